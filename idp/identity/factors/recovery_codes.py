"""Recovery codes: ten single-use codes that replace a lost second factor."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from idp.audit import events
from idp.audit.events import AuditEntry
from idp.foundation import base64url
from idp.foundation.opaque_tokens import Confidential
from idp.foundation.randomness import Random
from idp.foundation.texts import typed_texts
from idp.records import RECOVERY_CODES, USERS, RecoveryCode, User
from idp.service import Service
from storage import Delete, Insert, Update, Write

COUNT: Final = 10
_ALPHABET: Final = "abcdefghjkmnpqrstuvwxyz23456789"  # no characters that are easily confused
_GROUP: Final = 5  # 2 groups: 49 bits
_PAGE: Final = 100


class NewRecoveryCodes(Confidential, frozen=True):
    """New recovery codes, which are displayed once, and the writes that replace all earlier codes
    of the user by them."""

    codes: list[str]
    writes: list[Write]


async def make(service: Service, user: User, now: datetime) -> NewRecoveryCodes:
    """Returns ten new recovery codes, with the writes that store them in place of all that the
    user has.

    Callers commit these together with a change of the user's record, so of two concurrent units
    one fails with Stale.
    """
    codes = [_new(service.random) for _ in range(COUNT)]
    records = [
        RecoveryCode(id=_id(service, user, code), user_id=user.id, created_at=now)
        for code in codes
    ]
    deletions = await deletion_writes(service, user)
    return NewRecoveryCodes(
        codes, [*deletions, *(Insert(RECOVERY_CODES, record) for record in records)]
    )


async def deletion_writes(service: Service, user: User) -> list[Write]:
    """Returns the writes that delete all recovery codes of the user, for the caller to commit."""
    return [Delete(RECOVERY_CODES, code.id) for code in await _of(service, user)]


async def unused_count(service: Service, user: User) -> int:
    """Returns how many of the user's recovery codes are unused."""
    return sum(code.used_at is None for code in await _of(service, user))


async def use_writes(service: Service, user: User, typed: str) -> list[Write] | None:
    """Returns the writes that record the use of the typed recovery code, with an event, for the
    caller to commit; None if it is not an unused code of the user.

    Of two units that use the same code, one fails with Stale.
    """
    code = await service.store.get(RECOVERY_CODES, _id(service, user, _normalized(typed)))
    if code is None or code.user_id != user.id or code.used_at is not None:
        return None
    now, random = service.clock.now(), service.random
    use = Update(RECOVERY_CODES, code.id, set={"used_at": now}, expect={"used_at": None})
    return [
        use,
        *events.update(
            random, USERS, user, {}, AuditEntry("user.recovery_code_used", user.id, now)
        ),
    ]


async def _of(service: Service, user: User) -> list[RecoveryCode]:
    return (await service.store.find(RECOVERY_CODES, {"user_id": user.id}, limit=_PAGE)).records


def _new(random: Random) -> str:
    number = int.from_bytes(random.token_bytes(16), "big")
    characters = []
    for _ in range(2 * _GROUP):
        number, index = divmod(number, len(_ALPHABET))
        characters.append(_ALPHABET[index])
    return "".join(characters[:_GROUP]) + "-" + "".join(characters[_GROUP:])


def _id(service: Service, user: User, code: str) -> str:
    normalized = _normalized(code)
    return base64url.encode(service.master_key.mac("recovery-code", f"{user.id}\n{normalized}"))


def _normalized(typed: str) -> str:
    return typed_texts.alphanumeric(typed).lower()
