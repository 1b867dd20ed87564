"""Removal of roles that were assigned through a project grant and that the grant no longer grants.

The functions `purge` and `follow` are steps of deferred work (`idp/audit/deferred_work.py`): each
call processes a bounded number of assignments and returns whether none is left.
"""

from __future__ import annotations

from typing import Final

from idp.audit import deferred_work, events, versioned_updates
from idp.audit.events import AuditEntry
from idp.records import PROJECT_GRANTS, ROLE_ASSIGNMENTS, DeferredWork, RoleAssignment
from idp.search import paging
from idp.service import Service
from storage import Stale, Write

_AT_ONCE: Final = 500


async def purge(service: Service, work: DeferredWork) -> bool:
    """Removes a bounded number of the role assignments that were made through a deleted project
    grant, and returns whether none is left.

    It is a step of deferred work (`idp/audit/deferred_work.py`); `work.owner_id` is the grant's
    `generation`. The assignments hold it as `granted_by`; the grant's id would also match a grant
    that was created again.
    """
    where, type = {"granted_by": work.owner_id}, "role_assignment.deleted"
    return await deferred_work.emptied(service, ROLE_ASSIGNMENTS, where, type, work.actor)


async def follow(service: Service, work: DeferredWork) -> bool:
    """Reduces a bounded number of role assignments to the roles that their project grant still
    grants, and returns whether no assignment of the grant has another role any more.

    It is a step of deferred work (`idp/audit/deferred_work.py`); `work.owner_id` is the id of the
    grant.
    """
    grant = await service.store.get(PROJECT_GRANTS, work.owner_id)
    if grant is None:
        return True
    units: list[list[Write]] = []
    async for one in paging.each(service, ROLE_ASSIGNMENTS, {"granted_by": grant.generation}):
        remaining = [key for key in one.role_keys if key in grant.role_keys]
        if remaining != one.role_keys:
            units.append(with_roles(service, one, remaining, work.actor))
        if len(units) == _AT_ONCE:
            break
    outcomes = await service.store.commit_each(units)
    for outcome in outcomes:
        if outcome is not None and not isinstance(outcome, Stale):
            raise outcome
    # An assignment that was changed meanwhile (Stale) is left to the next step.
    return len(units) < _AT_ONCE and not any(outcomes)


def with_roles(
    service: Service, one: RoleAssignment, remaining: list[str], actor: str
) -> list[Write]:
    """Returns the writes that reduce the role assignment `one` to the roles with the keys in
    `remaining`, or remove it if there are none; the caller commits them in one unit. `actor` is
    the user whom the event names."""
    now = service.clock.now()
    if not remaining:
        type = "role_assignment.deleted"
        return versioned_updates.removal(
            service, ROLE_ASSIGNMENTS, one, AuditEntry(type, actor, now)
        )
    values, type = {"role_keys": remaining, "changed_at": now}, "role_assignment.changed"
    return events.update(
        service.random, ROLE_ASSIGNMENTS, one, values, AuditEntry(type, actor, now)
    )
