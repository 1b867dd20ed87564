"""Project grants: the right of another organization to use a project.

Users of that organization may use those of the project's applications that are open to granted
organizations, and its managers may assign the granted roles to its own users.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Final

from idp import changes
from idp.audit import deferred_work
from idp.changes import Change
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
from idp.schema.answers import Answer, Changed, Details
from idp.schema.field_rules import Items, Name
from idp.schema.reading import Request
from idp.service import Service
from storage import Insert, upgrades

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
) -> Change[ProjectGrantCreated]:
    """Grants a project, and the roles in the request, to another organization.

    Raises NotFound (the project), PermissionDenied, InvalidArgument (the organization does not
    exist or owns the project, or the project has no such role), AlreadyExists.
    """

    project = await projects.find(service, call, project_id)
    await management_access.check(service, call, project)
    organization = await _granted_organization(service, project, request.granted_org_id)
    role_records = await roles.find_by_keys(service, project, request.role_keys)
    grant = new(service, project, organization.id, role_records)
    payload = {"project": project.id, "grantedOrganization": organization.id}
    return Change(
        ProjectGrantCreated(grant_id=grant.id, details=answers.details(grant, grant.org_id)),
        [
            *changes.created(
                service, call, PROJECT_GRANTS, grant, "project_grant.created", payload
            ),
            projects.state_unchanged(project),
            *roles.unchanged(role_records),
            organizations.state_unchanged(organization),
            # Earlier releases would ignore the grant, so they must not open the store any more.
            *await upgrades.closing(service.store, READABLE_SINCE),
        ],
        if_taken=AlreadyExists(
            "the project is already granted to this organization",
            error_code="project_grant.exists",
            field="grantedOrgId",
        ),
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
) -> Change[Changed]:
    """Replaces the roles that a project grant grants; users lose those that are no longer granted.

    Raises NotFound, PermissionDenied, InvalidArgument (the project has no such role).
    """
    project = await projects.find(service, call, project_id)
    await management_access.check(service, call, project)
    role_records = await roles.find_by_keys(service, project, request.role_keys)
    grant = await _find(service, project, grant_id)
    role_keys = [role.key for role in role_records]
    update = changes.updated(
        service, call, PROJECT_GRANTS, grant, {"role_keys": role_keys}, "project_grant.changed"
    )
    if set(grant.role_keys) <= set(role_keys):
        return update.change(*roles.unchanged(role_records))
    work = deferred_work.new(service, "project_grant.changed", grant_id, call.actor)
    return update.change(
        *roles.unchanged(role_records),
        Insert(DEFERRED_WORK, work),
        afterwards=[deferred_work.first_step(service, work, granted_roles.reduce_roles)],
    )


async def remove(service: Service, call: Call, project_id: str, grant_id: str) -> Change[Changed]:
    """Deletes a project grant.

    The roles that were assigned through it end, and so do the tokens of users who are not allowed
    without it; a new grant restores neither. Raises NotFound, PermissionDenied.
    """
    project = await projects.find(service, call, project_id)
    await management_access.check(service, call, project)
    grant = await _find(service, project, grant_id)
    # Identified by its generation, which a new grant to the same organization does not share.
    work = deferred_work.new(service, "project_grant.deleted", grant.generation, call.actor)
    return changes.removed(service, call, PROJECT_GRANTS, grant, "project_grant.deleted").change(
        Insert(DEFERRED_WORK, work),
        afterwards=[deferred_work.first_step(service, work, granted_roles.purge)],
    )


async def change_state(
    service: Service, call: Call, project_id: str, grant_id: str, name: str
) -> Change[Changed]:
    """Deactivates or reactivates a project grant; `name` is `deactivate` or `reactivate`.

    A reactivation makes assigned roles valid again, but does not restore the tokens that ended
    with the deactivation. Raises NotFound, PermissionDenied, FailedPrecondition (it is in that
    state already).
    """
    transition = _TRANSITIONS[name]

    project = await projects.find(service, call, project_id)
    await management_access.check(service, call, project)
    grant = await _find(service, project, grant_id)
    if grant.state not in transition.before:
        message = f"the grant is {grant.state}"
        raise FailedPrecondition(message, error_code="project_grant.state")
    stamp = transition.stamp(service.random, grant.stamp)
    values = {"state": transition.after, "stamp": stamp}
    event = transition.event_type
    return changes.updated(service, call, PROJECT_GRANTS, grant, values, event).change()


_TRANSITIONS: Final[Mapping[str, StateTransition]] = {
    "deactivate": StateTransition(
        ("active",), "inactive", "project_grant.deactivated", ends_tokens=True
    ),
    "reactivate": StateTransition(
        ("inactive",), "active", "project_grant.reactivated", ends_tokens=False
    ),
}


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
