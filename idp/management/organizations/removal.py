"""Deletion of an organization with its users, projects and other records.

Its record is deleted in one unit with its domains: from then on every record that refers to it is
invalid, and its names are free. Those records are removed afterwards, a bounded number within the
call and the others in the background. The record of the deletion is deleted ten minutes later,
because a concurrent call may still have added something to the organization.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final, NamedTuple

from idp import changes
from idp.audit import deferred_work, events
from idp.audit.events import AuditEntry
from idp.changes import Change
from idp.foundation.errors import NotFound
from idp.identity.users import groups
from idp.management import call as management_call
from idp.management.call import Call
from idp.management.connections import removal as connection_removal
from idp.management.organizations import read as organization_read
from idp.management.organizations import states as organization_states
from idp.management.users import removal as user_removal
from idp.records import (
    DEFERRED_WORK,
    DELETED_ORGANIZATIONS,
    DOMAINS,
    MEMBERSHIPS,
    ORGANIZATIONS,
    PICTURES,
    POLICIES,
    PROJECT_GRANTS,
    PROJECTS,
    USERS,
    DeletedOrganization,
    Organization,
    Project,
    User,
)
from idp.records.connections import CONNECTIONS, OFFERED_CONNECTIONS, ProviderConnection
from idp.records.groups import GROUPS, Group
from idp.schema.answers import Changed
from idp.search import paging
from idp.service import Service
from idp.usage import counts
from storage import Collection, Delete, Insert, Stale, StorageError, Write

EVERY_SECONDS: Final = 10.0
RECORD_LIFETIME: Final = timedelta(minutes=10)  # longer than any call takes
BATCH_SIZE: Final = 100  # records of a collection that one step removes
_UNITS_PER_USER: Final = 20  # in one step
_TYPE: Final = "organization.deleted"


class _OrganizationPart(NamedTuple):
    """A collection of records that belong to an organization, apart from users and projects,
    and the type of the event of their removal."""

    collection: Collection[Any]
    type: str
    order: str | None = None
    field: str = "org_id"


_PARTS: Final = (
    _OrganizationPart(MEMBERSHIPS, "membership.deleted"),
    _OrganizationPart(DOMAINS, "domain.deleted", order="domain"),
    _OrganizationPart(POLICIES, "policy.deleted"),
    _OrganizationPart(PICTURES, "picture.deleted"),
    _OrganizationPart(OFFERED_CONNECTIONS, "offered_connections.deleted"),
    _OrganizationPart(PROJECT_GRANTS, "project_grant.deleted", field="granted_org_id"),
)


async def remove(service: Service, call: Call) -> Change[Changed]:
    """Deletes the call's organization with its users, projects and other records; sessions and
    tokens that were issued in it become invalid.

    Raises PermissionDenied, NotFound, and what `states.owner_guards` raises.
    """
    return await _remove(service, call, await management_call.organization(service, call))


async def remove_any(service: Service, call: Call, org_id: str) -> Change[Changed]:
    """Deletes the organization with this id, its users, projects and other records; sessions and
    tokens that were issued in it become invalid.

    Raises NotFound, and what `states.owner_guards` raises.
    """
    return await _remove(service, call, await organization_read.find(service, call, org_id))


async def _remove(service: Service, call: Call, organization: Organization) -> Change[Changed]:
    deletion = DeletedOrganization(
        id=organization.id, actor=call.actor, deleted_at=service.clock.now()
    )

    async def purge_some() -> None:
        with suppress(StorageError):  # the background task removes the records that remain
            await purge(service, deletion)

    removal = changes.removed(service, call, ORGANIZATIONS, organization, _TYPE, organization.id)
    change = removal.change(
        *await organization_states.owner_guards(service, call, organization),
        *await _domains(service, organization, call.actor),
        Insert(DELETED_ORGANIZATIONS, deletion),
        afterwards=[purge_some],
    )
    # A concurrent call has deleted it.
    gone = NotFound("there is no such organization", error_code=management_call.NO_ORGANIZATION)
    return replace(change, if_taken=gone)


async def _domains(service: Service, organization: Organization, actor: str) -> list[Write]:
    """Returns the writes that delete the organization's domains, so that others can use them. One
    page holds them all."""
    where, now = {"org_id": organization.id}, service.clock.now()
    page = await service.store.find(DOMAINS, where, order="domain", limit=paging.MAX_RECORDS)
    writes: list[Write] = []
    for each in page.records:
        writes += events.removal(
            service.random, DOMAINS, each, AuditEntry("domain.deleted", actor, now)
        )
    return writes


async def purge_deleted(service: Service) -> None:
    """Removes all records and figures that remain of deleted organizations; a task of the schedule
    (`idp/background/schedule.py`) calls it.

    Raises StorageError.
    """
    async for deletion in paging.each(service, DELETED_ORGANIZATIONS, {}):
        while not await purge(service, deletion):
            pass
        # Only when no call can still be adding to the organization.
        if service.clock.now() - deletion.deleted_at > RECORD_LIFETIME:
            await counts.remove(service, deletion.id)
            await service.store.commit(Delete(DELETED_ORGANIZATIONS, deletion.id))


async def purge(service: Service, deletion: DeletedOrganization) -> bool:
    """Removes a bounded number of records that remain of a deleted organization, and returns
    whether none remains; the caller repeats it until then.

    `deletion` is the record of the deletion, with the organization's id. The function may be
    interrupted at any point. Raises StorageError.
    """
    users = await service.store.find(
        USERS, {"org_id": deletion.id}, order="login_key", limit=BATCH_SIZE
    )
    for user in users.records:
        await _purge_user(service, user, deletion.actor)
    projects = await service.store.find(
        PROJECTS, {"org_id": deletion.id}, order="name", limit=BATCH_SIZE
    )
    for project in projects.records:
        await _purge_project(service, project, deletion.actor)
    groups_page = await service.store.find(
        GROUPS, {"org_id": deletion.id}, order="name_key", limit=BATCH_SIZE
    )
    for group in groups_page.records:
        await _purge_group(service, group, deletion.actor)
    connections = await service.store.find(
        CONNECTIONS, {"org_id": deletion.id}, order="name_key", limit=BATCH_SIZE
    )
    for connection in connections.records:
        await _purge_connection(service, connection, deletion.actor)
    pages = (users, projects, groups_page, connections)
    if any(page.records for page in pages):
        return False
    remaining = [
        await deferred_work.delete_some(
            service,
            part.collection,
            {part.field: deletion.id},
            part.type,
            deletion.actor,
            order=part.order,
        )
        for part in _PARTS
    ]
    return all(remaining)


async def _purge_user(service: Service, user: User, actor: str) -> None:
    """Removes a user, or, if too many records depend on the user, some of these."""
    for _ in range(_UNITS_PER_USER):
        writes, is_complete = await user_removal.dependent_removals(service, user, actor)
        if is_complete:
            now = service.clock.now()
            writes += events.removal(
                service.random, USERS, user, AuditEntry("user.deleted", actor, now)
            )
        with suppress(Stale):  # changed meanwhile: the next step reads the records again
            await changes.store(service, *writes)
        if is_complete:
            return


async def _purge_group(service: Service, group: Group, actor: str) -> None:
    """Removes a group; `idp/background/deferred_work.py` removes its members and grants."""
    work = deferred_work.new(service, groups.DELETED, group.generation, actor)
    with suppress(Stale):
        await changes.store(
            service,
            *groups.deletion(service, group, actor, service.clock.now()),
            Insert(DEFERRED_WORK, work),
        )


async def _purge_connection(service: Service, connection: ProviderConnection, actor: str) -> None:
    """Removes a connection; `idp/background/deferred_work.py` removes links that users elsewhere
    have."""
    work = deferred_work.new(service, connection_removal.DELETED, connection.id, actor)
    entry = AuditEntry(connection_removal.DELETED, actor, service.clock.now())
    removal = events.removal(service.random, CONNECTIONS, connection, entry)
    with suppress(Stale):
        await changes.store(service, *removal, Insert(DEFERRED_WORK, work))


async def _purge_project(service: Service, project: Project, actor: str) -> None:
    """Removes a project; `idp/background/deferred_work.py` removes its applications and roles."""
    now = service.clock.now()
    work = deferred_work.new(service, "project.deleted", project.id, actor)
    removal = events.removal(
        service.random, PROJECTS, project, AuditEntry("project.deleted", actor, now)
    )
    with suppress(Stale):
        await changes.store(service, *removal, Insert(DEFERRED_WORK, work))
