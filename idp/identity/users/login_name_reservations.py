"""Creations at the same moment meet at the login names that they give out.

That a user name is unique sees the store to. But it may also be another's user name@domain, or
another's address, and no key says so. Therefore each name with an @ has a short-lived record: who
is about to give it out reads the record first, then asks whether the name is free, then writes
the record anew in the unit that makes the user. Of two at once, the second finds it changed.
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

# Longer than anybody may take from reading to having committed.
_LASTS: Final = timedelta(minutes=1)
_TRIES: Final = 50  # of those who want one name at once, one at least succeeds in each round


class Reservations(Struct, frozen=True):
    """The records of some names as they were read; None where there is none."""

    read: dict[str, LoginClaim | None]

    def writes(self, service: Service) -> list[Write]:
        """Give the names out. Conflict or Stale: somebody did so since they were read."""
        if not self.read:
            return []
        version = service.random.token(bits=64)
        expires_at = service.clock.now() + _LASTS
        return [
            Insert(LOGIN_CLAIMS, LoginClaim(id=id, version=version, expires_at=expires_at))
            if claim is None
            else Update(
                LOGIN_CLAIMS,
                id,
                set={"version": version, "expires_at": expires_at},
                expect={"version": claim.version},
            )
            for id, claim in self.read.items()
        ]


async def read(service: Service, names: Iterable[str]) -> Reservations:
    """The claims on those of `names` (`users.login_names`) that no unique key holds apart."""
    return (await read_each(service, [names]))[0]


async def read_each(service: Service, named: Sequence[Iterable[str]]) -> list[Reservations]:
    """The same for the names of many, in one round trip."""
    ids = [sorted({_id(name) for name in names if "@" in name}) for names in named]
    asked = list(dict.fromkeys(id for each in ids for id in each))
    found = await service.store.get_many([(LOGIN_CLAIMS, id) for id in asked])
    claims = dict(zip(asked, found, strict=True))
    return [Reservations({id: claims[id] for id in each}) for each in ids]


async def repeated(
    attempt: Callable[[], Awaitable[R]], meets_at: Container[str] = (LOGIN_CLAIMS.name,)
) -> R:
    """What `attempt` comes to, once nobody else was faster in one of these collections.

    It reads what it decides by, so that it refuses what is taken by then. Raises Busy.
    """
    for _ in range(_TRIES):
        try:
            return await attempt()
        except (Conflict, Stale) as error:
            if error.collection not in meets_at:
                raise
    raise Busy("too many give out the same name at once", retry_after_seconds=1)


def _id(name: str) -> str:
    """The claim's id. Ids in the order of names lie together when many people come in order;
    names that begin alike for so long meet needlessly, and that costs a try."""
    return name[:MAX_ID_CHARACTERS]
