"""Removal of roles that were given to users or groups through a project grant and that the grant
no longer grants.

The functions `purge` and `reduce_roles` are steps of deferred work (`idp/audit/deferred_work.py`):
each call processes a bounded number of records and returns whether none remains.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from idp.audit import deferred_work, events
from idp.audit.events import AuditEntry
from idp.records import (
    PROJECT_GRANTS,
    ROLE_ASSIGNMENTS,
    DeferredWork,
    Project,
    ProjectGrant,
    RoleAssignment,
)
from idp.records.groups import GROUP_GRANTS, GroupGrant
from idp.search import paging
from idp.service import Service
from storage import Collection, Stale, Write

_BATCH_SIZE: Final = 500


class RoleCollection(NamedTuple):
    """A collection of records that give roles of a project, and the first part of the types of
    their events."""

    collection: Collection[Any]
    type: str


ROLE_COLLECTIONS: Final = (
    RoleCollection(ROLE_ASSIGNMENTS, "role_assignment"),
    RoleCollection(GROUP_GRANTS, "group_grant"),
)


async def purge(service: Service, work: DeferredWork) -> bool:
    """Removes a bounded number of the roles that were given through a deleted project grant, and
    returns whether none remains.

    It is a step of deferred work (`idp/audit/deferred_work.py`); `work.owner_id` is the grant's
    `generation`. The records hold it as `granted_by`; the grant's id would also match a grant that
    was created again.
    """
    where = {"granted_by": work.owner_id}
    emptied = [
        await deferred_work.delete_some(
            service, each.collection, where, f"{each.type}.deleted", work.actor
        )
        for each in ROLE_COLLECTIONS
    ]
    return all(emptied)


async def reduce_roles(service: Service, work: DeferredWork) -> bool:
    """Reduces a bounded number of users' and groups' roles to those that their project grant still
    grants, and returns whether none of them has another role any more.

    It is a step of deferred work (`idp/audit/deferred_work.py`); `work.owner_id` is the id of the
    grant.
    """
    grant = await service.store.get(PROJECT_GRANTS, work.owner_id)
    if grant is None:
        return True
    return all([await _are_reduced(service, grant, each, work.actor) for each in ROLE_COLLECTIONS])


async def _are_reduced(
    service: Service, grant: ProjectGrant, role_collection: RoleCollection, actor: str
) -> bool:
    units: list[list[Write]] = []
    async for record in paging.each(
        service, role_collection.collection, {"granted_by": grant.generation}
    ):
        remaining = [key for key in record.role_keys if key in grant.role_keys]
        if remaining != record.role_keys:
            units.append(with_roles(service, role_collection, record, remaining, actor))
        if len(units) == _BATCH_SIZE:
            break
    outcomes = await service.store.commit_each(units)
    for outcome in outcomes:
        if outcome is not None and not isinstance(outcome, Stale):
            raise outcome
    # The next step processes a record that was changed meanwhile (Stale).
    return len(units) < _BATCH_SIZE and not any(outcomes)


def with_roles(
    service: Service,
    role_collection: RoleCollection,
    record: RoleAssignment | GroupGrant,
    remaining: list[str],
    actor: str,
) -> list[Write]:
    """Returns the writes that reduce the roles in `record`, a record of `role_collection`, to
    those with the keys in `remaining`, or remove it if there are none; the caller commits them in
    one unit. `actor` is the user whom the event names."""
    now = service.clock.now()
    if not remaining:
        event_type = f"{role_collection.type}.deleted"
        return events.removal(
            service.random, role_collection.collection, record, AuditEntry(event_type, actor, now)
        )
    values, event_type = (
        {"role_keys": remaining, "changed_at": now},
        f"{role_collection.type}.changed",
    )
    return events.update(
        service.random,
        role_collection.collection,
        record,
        values,
        AuditEntry(event_type, actor, now),
    )


async def removals_of_role(
    service: Service, project: Project, key: str, actor: str
) -> list[Write]:
    """Returns the writes that remove the role with this key from the first of those assignments
    and grants of the project that have it; none if no record has it. `actor` is the user whom the
    events name."""
    where, units = {"project_id": project.id}, list[list[Write]]()
    for role_collection in ROLE_COLLECTIONS:
        async for record in paging.each(service, role_collection.collection, where):
            if key in record.role_keys and len(units) < _BATCH_SIZE:
                remaining = [each for each in record.role_keys if each != key]
                units.append(with_roles(service, role_collection, record, remaining, actor))
    async for grant in paging.each(service, PROJECT_GRANTS, where):
        if key in grant.role_keys and len(units) < _BATCH_SIZE:
            units.append(_without_granted_role(service, grant, key, actor))
    return [write for unit in units for write in unit]


def _without_granted_role(
    service: Service, grant: ProjectGrant, key: str, actor: str
) -> list[Write]:
    now, remaining = service.clock.now(), [each for each in grant.role_keys if each != key]
    entry = AuditEntry("project_grant.changed", actor, now)
    values = {"role_keys": remaining, "changed_at": now}
    return events.update(service.random, PROJECT_GRANTS, grant, values, entry)
