"""Deleting a user with all that hangs on them, so that an id made again finds nothing."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Final, NamedTuple

from idp.audit import versioned_updates
from idp.audit.versioned_updates import Changed
from idp.foundation.errors import Busy, FailedPrecondition
from idp.identity.users import ending, password_change
from idp.management.call import Call
from idp.management.users import manageable
from idp.records import (
    CONSENTS,
    GUESS_STREAKS,
    INSTANCE_ID,
    INSTANCES,
    MEMBERSHIPS,
    PASSKEYS,
    PATS,
    RECOVERY_CODES,
    ROLE_ASSIGNMENTS,
    USER_KEYS,
    USER_METADATA,
    USERS,
    VERIFICATIONS,
    User,
)
from idp.service import Service
from storage import Collection, Delete, Stale, Write
from storage.settling import commit_settled

UNITS: Final = 50  # in one call
_TYPE: Final = "user.deleted"
_CODES: Final = 100


class _UserPart(NamedTuple):
    """Records that belong to a user: by which list they are found, the event of their end, and
    how many go in one unit."""

    collection: Collection[Any]
    by: str
    type: str
    at_once: int = 200
    order: str | None = None


# What there may be much of goes first; what lets somebody do something goes with the user.
_PARTS: Final = (
    _UserPart(USER_METADATA, "user_id", "user_metadata.deleted", at_once=50, order="key"),
    _UserPart(CONSENTS, "user_id", "consent.deleted"),
    _UserPart(PATS, "user_id", "pat.deleted"),
    _UserPart(PASSKEYS, "user_id", "passkey.deleted", order="created_at"),
    _UserPart(USER_KEYS, "owner_id", "user_key.deleted"),
    _UserPart(ROLE_ASSIGNMENTS, "user_id", "role_assignment.deleted"),
    _UserPart(MEMBERSHIPS, "user_id", "membership.deleted"),
)


async def remove(service: Service, call: Call, user_id: str) -> Changed:
    """Delete a user: memberships, roles, keys, tokens, consents and metadata go with them, and
    the login names are free again. All that was issued to the user ends.

    Raises NotFound; PermissionDenied: nobody deletes who may do more than they;
    FailedPrecondition: the last active owner of the instance or of an organization, or the user
    of the demo application; Busy: very much hangs on the user, some of it is gone, and the call
    is to be repeated.
    """
    also = list[Write]()

    async def find() -> User:
        user = await manageable.find(service, call, user_id)
        also[:] = await _with_user(service, call, user)
        return user

    async def find_bare() -> User:
        for _ in range(UNITS):
            user = await find()
            writes, is_all = await hanging(service, user, call.actor)
            if is_all:
                also.extend(writes)
                return user
            with suppress(Stale):
                await commit_settled(service.store, *writes)
        raise Busy("very much hangs on the user: repeat the call", retry_after_seconds=1)

    org_id = (await find()).org_id
    return await versioned_updates.removed(
        service, USERS, find_bare, _TYPE, call, org_id, also=lambda _: also
    )


async def _with_user(service: Service, call: Call, user: User) -> list[Write]:
    """What is written beside the end of a user. Raises FailedPrecondition: they stay."""
    instance = await service.store.get(INSTANCES, INSTANCE_ID)
    if instance is not None and instance.demo and instance.demo.user_id == user.id:
        raise FailedPrecondition("the demo application's user stays", slug="user.demo")
    writes = await ending.ending_writes(service, user)
    if instance is not None:
        writes += password_change.forget_first_password(
            service, instance, user.id, actor=call.actor, now=service.clock.now()
        )
    return writes


async def hanging(service: Service, user: User, actor: str) -> tuple[list[Write], bool]:
    """The writes that remove what hangs on a user, and whether that is all."""
    writes, is_all, now = await _codes(service, user.id), True, service.clock.now()
    for part in _PARTS:
        page = await service.store.find(
            part.collection, {part.by: user.id}, order=part.order, limit=part.at_once
        )
        is_all = is_all and page.after is None
        for one in page.records:
            writes += versioned_updates.removal(
                service, part.collection, one, part.type, actor, now, user.org_id
            )
    return writes, is_all


async def _codes(service: Service, user_id: str) -> list[Write]:
    kept = await service.store.find(RECOVERY_CODES, {"user_id": user_id}, limit=_CODES)
    writes: list[Write] = [Delete(RECOVERY_CODES, code.id) for code in kept.records]
    writes.append(Delete(GUESS_STREAKS, user_id))
    for proves in ("email", "phone", "password", "reset"):
        where = {"user_id": user_id, "proves": proves}
        page = await service.store.find(
            VERIFICATIONS, where, order="created_at", descending=True, limit=_CODES
        )
        writes += [Delete(VERIFICATIONS, code.id) for code in page.records]
    return writes
