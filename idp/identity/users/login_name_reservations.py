"""Reservations of login names, by which concurrent creations of users notice each other.

The store keeps user names unique. But a user name can also equal another user's name@domain or
address, which no unique index covers. Therefore each name with an @ has a short-lived record.
To assign a name, read its record, check that the name is free, and write the record in the unit
that stores the user. Of two concurrent units, the second finds the record changed. Where there is
no record, the name may be checked before or while that is read.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Container, Iterable, Sequence
from datetime import timedelta
from typing import Final, TypeVar

from msgspec import Struct

from idp.foundation.errors import Busy
from idp.records import LOGIN_CLAIMS, LoginClaim
from idp.service import Service
from storage import MAX_ID_CHARACTERS, Conflict, Insert, Stale, Update, Write

R = TypeVar("R")

# Longer than any request may take from its read to its commit.
_LIFETIME: Final = timedelta(minutes=1)
_ATTEMPTS: Final = 50  # of concurrent units for one name, at least one succeeds in each round


class Reservations(Struct, frozen=True):
    """The reservations of some names as they were read; None where there is none."""

    read: dict[str, LoginClaim | None]

    @property
    def are_recent(self) -> bool:
        """Whether one of the names was reserved within the lifetime of a reservation."""
        return any(claim is not None for claim in self.read.values())

    def writes(self, service: Service) -> list[Write]:
        """Returns the writes that reserve the names. They fail with Conflict or Stale if a name
        was reserved since the records were read."""
        if not self.read:
            return []
        version = service.random.token(bits=64)
        expires_at = service.clock.now() + _LIFETIME
        return [
            Insert(LOGIN_CLAIMS, LoginClaim(id=claim_id, version=version, expires_at=expires_at))
            if claim is None
            else Update(
                LOGIN_CLAIMS,
                claim_id,
                set={"version": version, "expires_at": expires_at},
                expect={"version": claim.version},
            )
            for claim_id, claim in self.read.items()
        ]


async def read(service: Service, names: Iterable[str]) -> Reservations:
    """Returns the reservations of those of `names` (keys of `lookup.login_names`) that contain an
    @, for `Reservations.writes`.

    The others are user names, which a unique index of the store keeps apart.
    """
    return (await read_each(service, [names]))[0]


async def read_each(
    service: Service, names_of_each: Sequence[Iterable[str]]
) -> list[Reservations]:
    """Returns for many users what `read` returns for one, in this order, in one round trip."""
    ids = [sorted({_id(name) for name in names if "@" in name}) for names in names_of_each]
    ids_of_all = list(dict.fromkeys(claim_id for each in ids for claim_id in each))
    records = await service.store.get_many([(LOGIN_CLAIMS, claim_id) for claim_id in ids_of_all])
    claims = dict(zip(ids_of_all, records, strict=True))
    return [Reservations({claim_id: claims[claim_id] for claim_id in each}) for each in ids]


async def repeated(
    attempt: Callable[[], Awaitable[R]], collections: Container[str] = (LOGIN_CLAIMS.name,)
) -> R:
    """Returns the result of `attempt`, which is called again while it raises Conflict or Stale of
    one of these collections (named by `collections`).

    Each attempt has to read its data again, and so refuses names that were taken meanwhile. Raises
    Busy after several attempts.
    """
    for _ in range(_ATTEMPTS):
        try:
            return await attempt()
        except (Conflict, Stale) as error:
            if error.collection not in collections:
                raise
    raise Busy("too many concurrent calls assign the same name", retry_after_seconds=1)


def _id(name: str) -> str:
    """The reservation's id. It begins with the name, so the records of an import in alphabetical
    order are adjacent in the index; long names with the same beginning share a record, which
    costs a repeated attempt."""
    return name[:MAX_ID_CHARACTERS]
