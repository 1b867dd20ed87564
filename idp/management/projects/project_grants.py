"""Project grants: the right of another organization to use a project.

Users of that organization may use those of the project's applications that are open to granted
organizations, and its managers may assign the granted roles to its own users.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Annotated, Final

from idp.audit import deferred_work, events, versioned_updates
from idp.audit.events import AuditEntry
from idp.audit.versioned_updates import Changed
from idp.foundation.errors import (
    AlreadyExists,
    FailedPrecondition,
    FieldProblem,
    InvalidArgument,
    NotFound,
)
from idp.identity.users import grant_ids, organizations
from idp.management.call import Call
from idp.management.projects import granted_roles, management_access, projects, roles
from idp.management.state_transitions import StateTransition
from idp.records import (
    DEFERRED_WORK,
    ORGANIZATIONS,
    PROJECT_GRANTS,
    Organization,
    Project,
    ProjectGrant,
    ProjectRole,
)
from idp.schema import answers
from idp.schema.answers import Answer, Details
from idp.schema.field_rules import Items, Name
from idp.schema.reading import Request
from idp.service import Service
from storage import Conflict, Insert, Stale, Write, upgrades
from storage.confirmed_commit import commit_confirmed

READABLE_SINCE: Final = 2  # the schema of the first release that applies grants at a sign-in
_RoleKeys = Annotated[list[Name], Items(100)]


class GrantedRoles(Request, frozen=True, kw_only=True):
    role_keys: _RoleKeys = []


class NewProjectGrant(GrantedRoles, frozen=True, kw_only=True):
    granted_org_id: Name


class ProjectGrantCreated(Answer, frozen=True, kw_only=True):
    grant_id: str
    details: Details


class ProjectGrantView(Answer, frozen=True, kw_only=True):
    grant_id: str
    details: Details
    granted_org_id: str
    granted_org_name: str = ""
    granted_role_keys: list[str] = []
    state: str = "PROJECT_GRANT_STATE_UNSPECIFIED"
    project_id: str = ""
    project_name: str = ""


class ProjectGrantFound(Answer, frozen=True, kw_only=True):
    project_grant: ProjectGrantView


async def create(
    service: Service, call: Call, project_id: str, request: NewProjectGrant
) -> ProjectGrantCreated:
    """Grants a project, and the roles in the request, to another organization.

    Raises NotFound (the project), PermissionDenied, InvalidArgument (the organization does not
    exist or owns the project, or the project has no such role), AlreadyExists.
    """

    async def attempt() -> ProjectGrant:
        project = await projects.find(service, call, project_id)
        await management_access.check(service, call, project)
        organization = await _granted_organization(service, project, request.granted_org_id)
        role_records = await roles.find_by_keys(service, project, request.role_keys)
        grant = new(service, project, organization.id, role_records)
        entry = AuditEntry(
            "project_grant.created",
            call.actor,
            grant.created_at,
            payload={"project": project.id, "grantedOrganization": organization.id},
        )
        writes = events.insertion(service.random, PROJECT_GRANTS, grant, entry)
        guards = [
            projects.state_unchanged(project),
            *roles.unchanged(role_records),
            organizations.state_unchanged(organization),
        ]
        # Earlier releases would ignore the grant, so they must not open the store any more.
        closing = await upgrades.closing(service.store, READABLE_SINCE)
        await commit_confirmed(service.store, *writes, *guards, *closing)
        return grant

    try:
        created = await versioned_updates.repeated(attempt)
    except Conflict:
        message = "the project is already granted to this organization"
        raise AlreadyExists(
            message, error_code="project_grant.exists", field="grantedOrgId"
        ) from None
    return ProjectGrantCreated(
        grant_id=created.id, details=answers.details(created, created.org_id)
    )


def new(
    service: Service, project: Project, granted_org_id: str, role_records: Sequence[ProjectRole]
) -> ProjectGrant:
    """Returns a new record of a grant of `project` to the organization `granted_org_id`; the
    caller stores it. `role_records` are the roles that it grants."""
    now = service.clock.now()
    return ProjectGrant(
        id=grant_ids.of_grant(project.id, granted_org_id),
        project_id=project.id,
        org_id=project.org_id,
        granted_org_id=granted_org_id,
        role_keys=[role.key for role in role_records],
        generation=service.random.id(),
        stamp=service.random.token(bits=64),
        created_at=now,
        changed_at=now,
    )


async def _granted_organization(service: Service, project: Project, org_id: str) -> Organization:
    if org_id == project.org_id:
        message = "is the organization that owns the project"
        raise InvalidArgument([FieldProblem("project_grant.own", "grantedOrgId", message)])
    organization = await service.store.get(ORGANIZATIONS, org_id)
    if organization is None:
        message = "is not an organization of this installation"
        raise InvalidArgument(
            [FieldProblem("project_grant.organization", "grantedOrgId", message)]
        )
    return organization


async def show(service: Service, call: Call, project_id: str, grant_id: str) -> ProjectGrantFound:
    """Returns a project grant. Raises NotFound."""
    project = await projects.find(service, call, project_id)
    grant = await _find(service, project, grant_id)
    organization = await service.store.get(ORGANIZATIONS, grant.granted_org_id)
    return ProjectGrantFound(project_grant=view(grant, project, organization))


async def change(
    service: Service, call: Call, project_id: str, grant_id: str, request: GrantedRoles
) -> Changed:
    """Replaces the roles that a project grant grants; users lose those that are no longer granted.

    Raises NotFound, PermissionDenied, InvalidArgument (the project has no such role).
    """
    role_records: Sequence[ProjectRole] = ()

    async def find() -> ProjectGrant:
        nonlocal role_records
        project = await projects.find(service, call, project_id)
        await management_access.check(service, call, project)
        role_records = await roles.find_by_keys(service, project, request.role_keys)
        return await _find(service, project, grant_id)

    work = deferred_work.new(service, "project_grant.changed", grant_id, call.actor)

    def further_writes(before: ProjectGrant, after: ProjectGrant) -> list[Write]:
        # Only if a role is missing are there assignments to change.
        has_lost_roles = not set(before.role_keys) <= set(after.role_keys)
        deferred = [Insert(DEFERRED_WORK, work)] if has_lost_roles else []
        return [*roles.unchanged(role_records), *deferred]

    changed = await versioned_updates.changed(
        service,
        PROJECT_GRANTS,
        find,
        lambda _: {"role_keys": [role.key for role in role_records]},
        "project_grant.changed",
        call,
        further_writes=further_writes,
    )
    await deferred_work.begin(service, work, granted_roles.reduce_roles)
    return Changed(details=answers.details(changed, changed.org_id))


async def remove(service: Service, call: Call, project_id: str, grant_id: str) -> Changed:
    """Deletes a project grant.

    The roles that were assigned through it end, and so do the tokens of users who are not allowed
    without it; a new grant restores neither. Raises NotFound, PermissionDenied.
    """
    project = await projects.find(service, call, project_id)
    await management_access.check(service, call, project)
    work = None

    def further_writes(grant: ProjectGrant) -> list[Write]:
        nonlocal work
        # Identified by its generation, which a new grant to the same organization does not share.
        work = deferred_work.new(service, "project_grant.deleted", grant.generation, call.actor)
        return [Insert(DEFERRED_WORK, work)]

    removed = await versioned_updates.removed(
        service,
        PROJECT_GRANTS,
        lambda: _find(service, project, grant_id),
        "project_grant.deleted",
        call,
        project.org_id,
        further_writes=further_writes,
    )
    if work is not None:
        await deferred_work.begin(service, work, granted_roles.purge)
    return removed


async def change_state(
    service: Service, call: Call, project_id: str, grant_id: str, name: str
) -> Changed:
    """Deactivates or reactivates a project grant; `name` is `deactivate` or `reactivate`.

    A reactivation makes assigned roles valid again, but does not restore the tokens that ended
    with the deactivation. Raises NotFound, PermissionDenied, FailedPrecondition (it is in that
    state already).
    """
    transition = _TRANSITIONS[name]

    async def find() -> ProjectGrant:
        project = await projects.find(service, call, project_id)
        await management_access.check(service, call, project)
        grant = await _find(service, project, grant_id)
        if grant.state not in transition.before:
            message = f"the grant is {grant.state}"
            raise FailedPrecondition(message, error_code="project_grant.state")
        return grant

    def decide(grant: ProjectGrant) -> Mapping[str, object]:
        stamp = transition.stamp(service.random, grant.stamp)
        return {"state": transition.after, "stamp": stamp}

    changed = await versioned_updates.changed(
        service, PROJECT_GRANTS, find, decide, transition.event_type, call
    )
    return Changed(details=answers.details(changed, changed.org_id))


_TRANSITIONS: Final[Mapping[str, StateTransition]] = {
    "deactivate": StateTransition(
        ("active",), "inactive", "project_grant.deactivated", ends_tokens=True
    ),
    "reactivate": StateTransition(
        ("inactive",), "active", "project_grant.reactivated", ends_tokens=False
    ),
}


async def remove_role(service: Service, call: Call, grant: ProjectGrant, key: str) -> None:
    """Removes the role with this key from a project grant and stores the grant; the caller deletes
    the role itself, before or afterwards. `grant` is the record as it was last read; it is read
    again if it has changed."""
    current: ProjectGrant | None = grant
    while current is not None and key in current.role_keys:
        now, other_keys = service.clock.now(), [each for each in current.role_keys if each != key]
        values = {"role_keys": other_keys, "changed_at": now}
        with suppress(Stale):
            entry = AuditEntry("project_grant.changed", call.actor, now)
            await service.store.commit(
                *events.update(service.random, PROJECT_GRANTS, current, values, entry)
            )
        current = await service.store.get(PROJECT_GRANTS, current.id)


async def _find(service: Service, project: Project, grant_id: str) -> ProjectGrant:
    grant = await service.store.get(PROJECT_GRANTS, grant_id)
    if grant is None or grant.project_id != project.id:
        raise NotFound("there is no such grant", error_code="project_grant.not_found")
    return grant


def view(
    grant: ProjectGrant, project: Project, organization: Organization | None
) -> ProjectGrantView:
    """Returns a project grant in the form in which the API returns it.

    `organization` is the one that the project is granted to, None if it was deleted.
    """
    return ProjectGrantView(
        grant_id=grant.id,
        details=answers.details(grant, grant.org_id),
        granted_org_id=grant.granted_org_id,
        granted_org_name=organization.name if organization else "",
        granted_role_keys=grant.role_keys,
        state=f"PROJECT_GRANT_STATE_{grant.state.upper()}",
        project_id=project.id,
        project_name=project.name,
    )
