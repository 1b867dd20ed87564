"""Calls that give groups roles in projects, and remove them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final

from msgspec import structs

from idp import changes
from idp.audit import events
from idp.audit.events import AuditEntry
from idp.changes import Change
from idp.foundation.errors import FailedPrecondition, NotFound
from idp.identity.users import grant_ids, groups
from idp.management.call import Call
from idp.management.groups import groups as group_calls
from idp.management.groups.groups import MAX_GRANTS
from idp.management.projects import management_access, role_assignments, roles
from idp.management.projects.role_assignments import AssignmentSource
from idp.records import PROJECT_GRANTS, PROJECTS, ProjectRole
from idp.records.groups import GROUP_GRANTS, Group, GroupGrant, grant_id
from idp.schema import answers
from idp.schema.answers import Changed
from idp.schema.field_rules import Items, Name
from idp.schema.reading import Request
from idp.service import Service
from storage import Write

# The fields of a record that change when its roles replace those of a deleted group, or those by
# another project grant.
REPLACED: Final = ("generation", "org_id", "role_keys", "granted_by", "stamp", "created_at")


class GroupRoles(Request, frozen=True, kw_only=True):
    """Roles of a project of the group's organization, or of one that is granted to it."""

    role_keys: Annotated[list[Name], Items(100, min=1)]


async def put(
    service: Service, call: Call, group_id: str, project_id: str, request: GroupRoles
) -> Change[Changed]:
    """Gives a group these roles of a project, in place of those that it has there.

    Raises NotFound (the group, the project), PermissionDenied, InvalidArgument (the project has no
    such role, or it is not granted), FailedPrecondition (roles in too many projects).
    """

    group = await group_calls.find(service, call, group_id)
    source = await _source(service, group, project_id)
    await management_access.check(service, call, source.project)
    role_records = await role_assignments.find_roles(service, source, request.role_keys)
    stored = await service.store.get(GROUP_GRANTS, grant_id(group.id, project_id))
    if stored is not None and _is_same(stored, group, source, role_records):
        changes.check_version(stored, call)
        return Change(Changed(details=answers.details(stored, stored.org_id)))
    if stored is None and len(await group_calls.grants_of(service, group)) >= MAX_GRANTS:
        message = f"the group already has roles in {MAX_GRANTS} projects"
        raise FailedPrecondition(message, error_code="group.too_many_grants")
    writes, grant = _writes(service, call, stored, new(service, group, source, role_records))
    guards = [*roles.unchanged(role_records), *source.unchanged(), groups.exists_guard(group)]
    return Change(Changed(details=answers.details(grant, grant.org_id)), [*writes, *guards])


async def _source(service: Service, group: Group, project_id: str) -> AssignmentSource:
    """Returns the project or, if it is another organization's, its active grant to the group's
    organization. Raises NotFound."""
    project, grant = await service.store.get_many(
        [(PROJECTS, project_id), (PROJECT_GRANTS, grant_ids.of_grant(project_id, group.org_id))]
    )
    if project is not None and project.org_id == group.org_id:
        return AssignmentSource(project)
    if project is None or grant is None or grant.state != "active":
        raise NotFound("there is no such project", error_code="project.not_found")
    return AssignmentSource(project, grant)


def new(
    service: Service, group: Group, source: AssignmentSource, role_records: Sequence[ProjectRole]
) -> GroupGrant:
    """Returns a new record that gives `group` the roles `role_records` of the project in `source`;
    the caller stores it."""
    now = service.clock.now()
    return GroupGrant(
        id=grant_id(group.id, source.project.id),
        group_id=group.id,
        generation=group.generation,
        project_id=source.project.id,
        org_id=source.org_id,
        role_keys=[role.key for role in role_records],
        stamp=service.random.token(bits=64),
        created_at=now,
        changed_at=now,
        granted_by=source.grant.generation if source.grant else None,
    )


def _is_same(
    stored: GroupGrant, group: Group, source: AssignmentSource, role_records: Sequence[ProjectRole]
) -> bool:
    return (
        stored.generation == group.generation
        and stored.role_keys == [role.key for role in role_records]
        and stored.granted_by == (source.grant.generation if source.grant else None)
    )


def _writes(
    service: Service, call: Call, stored: GroupGrant | None, grant: GroupGrant
) -> tuple[list[Write], GroupGrant]:
    """Returns the writes that store `grant`, in place of `stored` if there is one, and the record
    after them.

    The same roles from the same source keep their stamp, so that tokens that were issued because
    of them stay valid.
    """
    payload = {"group": grant.group_id, "project": grant.project_id}
    now = grant.created_at
    if stored is None:
        changes.check_version(structs.replace(grant, sequence=0), call)
        entry = AuditEntry("group_grant.created", call.actor, now, payload=payload)
        return events.insertion(service.random, GROUP_GRANTS, grant, entry), grant
    changes.check_version(stored, call)
    is_of_deleted_group = (
        stored.generation != grant.generation
    )  # by a deleted group with the same id
    has_other_grant = stored.granted_by != grant.granted_by
    names = REPLACED if is_of_deleted_group or has_other_grant else ("role_keys",)
    values: dict[str, object] = {name: getattr(grant, name) for name in names}
    values["changed_at"] = now
    event_type = "group_grant.created" if is_of_deleted_group else "group_grant.changed"
    entry = AuditEntry(event_type, call.actor, now, payload=payload)
    changed_grant = structs.replace(stored, **values, sequence=stored.sequence + 1)
    return events.update(service.random, GROUP_GRANTS, stored, values, entry), changed_grant


async def remove(service: Service, call: Call, group_id: str, project_id: str) -> Change[Changed]:
    """Removes the roles that a group has in a project. Raises NotFound, PermissionDenied."""
    group = await group_calls.find(service, call, group_id)
    project = await service.store.get(PROJECTS, project_id)
    if project is not None:
        await management_access.check(service, call, project)

    grant = await service.store.get(GROUP_GRANTS, grant_id(group.id, project_id))
    if grant is None or grant.generation != group.generation:
        message = "the group has no roles in this project"
        raise NotFound(message, error_code="group.grant_not_found")
    return changes.removed(service, call, GROUP_GRANTS, grant, "group_grant.deleted").change()
