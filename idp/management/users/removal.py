"""Deletion of a user with all records that depend on it, so that a later user with the same id
finds none of them."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from idp import changes
from idp.audit import events
from idp.audit.events import AuditEntry
from idp.changes import Part, Planned
from idp.foundation.errors import FailedPrecondition
from idp.identity.users import ending, groups, password_change
from idp.management.call import Call
from idp.management.users import manageable
from idp.records import (
    CONSENTS,
    FAILURE_STREAKS,
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
from idp.records.identity_links import IDENTITY_LINKS
from idp.schema.answers import Changed
from idp.service import Service
from idp.upstream import links
from idp.usage import active_users
from storage import Collection, Delete, Write

_TYPE: Final = "user.deleted"
_CODES: Final = 100
_LINKS: Final = 50


class _UserPart(NamedTuple):
    """A kind of records that belong to a user: their collection, the `field` that
    contains the user's id, the type of the event of their removal, and how many are removed in one
    unit."""

    collection: Collection[Any]
    field: str
    type: str
    batch_size: int = 200
    order: str | None = None


# Each unit removes up to `batch_size` records of every kind; fewer entries of metadata, which may
# be large. The unit that removes the last of them also deletes the user.
_PARTS: Final = (
    _UserPart(USER_METADATA, "user_id", "user_metadata.deleted", batch_size=50, order="key"),
    _UserPart(CONSENTS, "user_id", "consent.deleted"),
    _UserPart(PATS, "user_id", "pat.deleted"),
    _UserPart(PASSKEYS, "user_id", "passkey.deleted", order="created_at"),
    _UserPart(USER_KEYS, "owner_id", "user_key.deleted"),
    _UserPart(ROLE_ASSIGNMENTS, "user_id", "role_assignment.deleted"),
    _UserPart(MEMBERSHIPS, "user_id", "membership.deleted"),
)


async def remove(service: Service, call: Call, user_id: str) -> Planned[Changed]:
    """Deletes a user with their memberships, roles, keys, tokens, consents and metadata, and frees
    the login names. All sessions and tokens of the user end.

    Raises NotFound; PermissionDenied if the user has more rights than the caller;
    FailedPrecondition if it is the last active owner of the installation or of an organization, or
    the user of the demo application; Busy if so many records depend on the user that only some
    were removed, and the call is to be repeated.
    """
    user = await manageable.find(service, call, user_id)
    deletion = changes.removed(service, call, USERS, user, _TYPE)
    deletion_writes = await _deletion_writes(service, call, user)
    writes, is_complete = await dependent_removals(service, user, call.actor)
    return deletion.change(*deletion_writes, *writes) if is_complete else Part(writes)


async def _deletion_writes(service: Service, call: Call, user: User) -> list[Write]:
    """Returns the writes that are stored together with the deletion.

    Raises FailedPrecondition if the user must not be deleted.
    """
    instance = await service.store.get(INSTANCES, INSTANCE_ID)
    if instance is not None and instance.demo and instance.demo.user_id == user.id:
        raise FailedPrecondition(
            "the demo application's user can't be deleted", error_code="user.demo"
        )
    writes = await ending.ending_writes(service, user)
    if instance is not None:
        writes += password_change.forget_first_password(
            service, instance, user.id, actor=call.actor, now=service.clock.now()
        )
    return writes


async def dependent_removals(service: Service, user: User, actor: str) -> tuple[list[Write], bool]:
    """Returns writes that remove records which depend on a user, a limited number of each kind,
    and whether these are all. The caller commits the writes in one unit, and calls again while
    there are further ones; `actor` is the user that the events name."""
    now = service.clock.now()
    writes, is_complete = await groups.departures(service, user, actor)
    link_page = await service.store.find(IDENTITY_LINKS, {"user_id": user.id}, limit=_LINKS)
    writes += links.removals(service, link_page.records, actor)
    is_complete = is_complete and link_page.after is None
    writes += await _codes(service, user.id)
    for part in _PARTS:
        page = await service.store.find(
            part.collection, {part.field: user.id}, order=part.order, limit=part.batch_size
        )
        is_complete = is_complete and page.after is None
        for record in page.records:
            writes += events.removal(
                service.random,
                part.collection,
                record,
                AuditEntry(part.type, actor, now, user.org_id),
            )
    return writes, is_complete


async def _codes(service: Service, user_id: str) -> list[Write]:
    codes = await service.store.find(RECOVERY_CODES, {"user_id": user_id}, limit=_CODES)
    writes: list[Write] = [Delete(RECOVERY_CODES, code.id) for code in codes.records]
    writes += [Delete(FAILURE_STREAKS, user_id), active_users.deletion(user_id)]
    for purpose in ("email", "phone", "password", "reset"):
        where = {"user_id": user_id, "proves": purpose}
        page = await service.store.find(
            VERIFICATIONS, where, order="created_at", descending=True, limit=_CODES
        )
        writes += [Delete(VERIFICATIONS, code.id) for code in page.records]
    return writes
