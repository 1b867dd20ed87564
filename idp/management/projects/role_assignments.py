"""Calls that assign roles of a project to users, and change and remove the assignments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from msgspec import Struct

from idp import changes
from idp.changes import Change, Part, Planned
from idp.foundation.errors import AlreadyExists, FieldProblem, InvalidArgument, NotFound
from idp.identity.users import grant_ids
from idp.management.call import Call
from idp.management.projects import (
    granted_roles,
    management_access,
    projects,
    roles,
)
from idp.management.users import manageable
from idp.management.users import read as user_read
from idp.records import (
    PROJECT_GRANTS,
    PROJECT_ROLES,
    PROJECTS,
    ROLE_ASSIGNMENTS,
    USERS,
    Project,
    ProjectGrant,
    ProjectRole,
    RoleAssignment,
    User,
)
from idp.schema import answers
from idp.schema.answers import Answer, Changed, Details
from idp.schema.field_rules import Items, Name, Text
from idp.schema.reading import Request
from idp.search import paging
from idp.search.paging import ListDetails
from idp.service import Service
from storage import Update, Write

_RoleKeys = Annotated[list[Name], Items(100, min=1)]


class NewAssignment(Request, frozen=True, kw_only=True):
    """If `project_grant_id` is omitted and the caller does not manage the project, the roles are
    assigned by the project grant to the user's organization.
    """

    project_id: Name
    project_grant_id: Annotated[str, Text()] = ""
    role_keys: _RoleKeys


class AssignmentChange(Request, frozen=True, kw_only=True):
    role_keys: _RoleKeys


class AssignmentCreated(Answer, frozen=True, kw_only=True):
    user_grant_id: str
    details: Details


class AssignmentView(Answer, frozen=True, kw_only=True):
    id: str
    details: Details
    user_id: str
    project_id: str
    role_keys: list[str] = []
    project_grant_id: str = ""


class AssignmentSource(Struct, frozen=True):
    """The project whose roles are assigned, and the project grant by which another organization
    assigns them; without a `grant`, the project's own organization assigns them."""

    project: Project
    grant: ProjectGrant | None = None

    @property
    def org_id(self) -> str:
        """The id of the organization that assigns the roles: the one that the project is granted
        to, or without a grant the one that owns it."""
        return self.grant.granted_org_id if self.grant else self.project.org_id

    def unchanged(self) -> list[Write]:
        """Returns guards for the unit in which the caller assigns roles: it is stored only if the
        project grant has not changed. Without a grant there are none."""
        if self.grant is None:
            return []
        unchanged = {"sequence": self.grant.sequence}
        return [Update(PROJECT_GRANTS, self.grant.id, expect=unchanged)]


class Assignments(Answer, frozen=True, kw_only=True):
    details: ListDetails
    result: list[AssignmentView] = []


async def create(
    service: Service, call: Call, user_id: str, request: NewAssignment
) -> Change[AssignmentCreated]:
    """Assigns roles of a project to a user.

    The caller needs the permission in the organizations of the project and of the user, or only in
    that of the user if the project is granted to it. Raises NotFound, PermissionDenied,
    AlreadyExists, InvalidArgument (the project has no such role, or it is not granted).
    """

    user = await manageable.find(service, call, user_id)
    source = await _source(service, call, user, request.project_id, request.project_grant_id)
    role_records = await find_roles(service, source, request.role_keys)
    assignment = new(service, user, source, role_records)
    payload = {"user": assignment.user_id, "project": assignment.project_id}
    return Change(
        AssignmentCreated(
            user_grant_id=assignment.id, details=answers.details(assignment, assignment.org_id)
        ),
        [
            *changes.created(
                service, call, ROLE_ASSIGNMENTS, assignment, "role_assignment.created", payload
            ),
            *roles.unchanged(role_records),
            *source.unchanged(),
            # The stamp also differs for a user that was deleted and created again by the same id.
            Update(USERS, user.id, expect={"stamp": user.stamp}),
        ],
        if_taken=AlreadyExists(
            "the user already has roles in this project: change them by PUT",
            error_code="user_grant.exists",
            field="projectId",
        ),
    )


def new(
    service: Service, user: User, source: AssignmentSource, role_records: Sequence[ProjectRole]
) -> RoleAssignment:
    """Returns a new record that assigns roles of the project in `source` to `user`; the caller
    stores it. `role_records` are the roles."""
    now, project = service.clock.now(), source.project
    return RoleAssignment(
        id=grant_ids.of_assignment(user.id, project.id),
        user_id=user.id,
        project_id=project.id,
        org_id=source.org_id,
        role_keys=[role.key for role in role_records],
        created_at=now,
        changed_at=now,
        granted_by=source.grant.generation if source.grant else None,
        stamp=service.random.token(bits=64),
    )


async def change(
    service: Service, call: Call, user_id: str, assignment_id: str, request: AssignmentChange
) -> Change[Changed]:
    """Replaces the roles in a role assignment of a user.

    Raises NotFound, PermissionDenied, InvalidArgument (the project has no such role, or it is not
    granted).
    """
    user = await manageable.find(service, call, user_id)
    assignment = await _find(service, call, user, assignment_id)
    grant_id = (
        grant_ids.of_grant(assignment.project_id, assignment.org_id)
        if assignment.granted_by
        else ""
    )
    source = await _source(service, call, user, assignment.project_id, grant_id)
    role_records = await find_roles(service, source, request.role_keys)
    values = {"role_keys": list(dict.fromkeys(request.role_keys))}
    return changes.updated(
        service, call, ROLE_ASSIGNMENTS, assignment, values, "role_assignment.changed"
    ).change(*roles.unchanged(role_records), *source.unchanged())


async def find_all(service: Service, call: Call, user_id: str) -> Assignments:
    """Returns the role assignments of a user, one for each project. Raises NotFound."""
    user = await user_read.find(service, call, user_id)
    details, assignments = await paging.first_page(service, ROLE_ASSIGNMENTS, {"user_id": user.id})
    visible = [view(assignment) for assignment in assignments if call.reaches(assignment.org_id)]
    # The total must not show how many roles other organizations have assigned.
    hidden = len(assignments) - len(visible)
    total = ListDetails(total_result=str(int(details.total_result) - hidden))
    return Assignments(details=total, result=visible)


async def remove(
    service: Service, call: Call, user_id: str, assignment_id: str
) -> Change[Changed]:
    """Removes a role assignment: all roles that a user has in a project.

    Raises NotFound, PermissionDenied.
    """
    user = await manageable.find(service, call, user_id)
    assignment = await _find(service, call, user, assignment_id)
    event = "role_assignment.deleted"
    return changes.removed(service, call, ROLE_ASSIGNMENTS, assignment, event).change()


async def remove_role(service: Service, call: Call, project_id: str, key: str) -> Planned[Changed]:
    """Deletes a role of a project, and removes it from every assignment to a user or a group and
    from every project grant.

    The assignments are changed both before and after the role itself is deleted: the second pass
    finds those that were made during the first, and once the role is deleted it can no longer be
    assigned. Raises NotFound, PermissionDenied.
    """
    project = await projects.find(service, call, project_id)
    await management_access.check(service, call, project)
    role = await roles.find(service, project, key)
    writes = await granted_roles.removals_of_role(service, project, key, call.actor)
    if writes:
        return Part(writes)

    async def remove_from_new_assignments() -> None:
        await changes.run(service, _remaining_removals, project, key, call.actor)

    event = "project_role.deleted"
    return changes.removed(service, call, PROJECT_ROLES, role, event).change(
        afterwards=[remove_from_new_assignments]
    )


async def _remaining_removals(
    service: Service, project: Project, key: str, actor: str
) -> Planned[None]:
    writes = await granted_roles.removals_of_role(service, project, key, actor)
    return Part(writes) if writes else Change(None)


async def _find(service: Service, call: Call, user: User, assignment_id: str) -> RoleAssignment:
    assignment = await service.store.get(ROLE_ASSIGNMENTS, assignment_id)
    if assignment is None or assignment.user_id != user.id or not call.reaches(assignment.org_id):
        raise _no_assignment()
    return assignment


async def _source(
    service: Service, call: Call, user: User, project_id: str, grant_id: str
) -> AssignmentSource:
    """Returns the project or the project grant through which the call may assign roles to the
    user.

    It is the project if the call reaches it and names no project grant, and otherwise an active
    grant for the user's organization, if the call reaches that. Raises NotFound.
    """
    project, grant = await service.store.get_many(
        [(PROJECTS, project_id), (PROJECT_GRANTS, grant_ids.of_grant(project_id, user.org_id))]
    )
    if project is not None and not grant_id and call.reaches(project.org_id):
        return AssignmentSource(project, None)
    is_granted = grant is not None and grant.state == "active" and call.reaches(user.org_id)
    if grant_id and not (is_granted and grant.id == grant_id):
        message = "the user's organization has no such active grant"
        raise NotFound(message, error_code="project_grant.not_found", field="projectGrantId")
    if project is None or not is_granted:
        raise NotFound(
            "there is no such project", error_code="project.not_found", field="projectId"
        )
    return AssignmentSource(project, grant)


async def find_roles(
    service: Service, source: AssignmentSource, keys: Sequence[str]
) -> list[ProjectRole]:
    """Returns the roles with these keys of the project in `source`, without duplicates.

    Raises InvalidArgument if one does not exist or is not granted.
    """
    grant = source.grant
    problems = [
        FieldProblem("role.not_granted", f"roleKeys[{n}]", "is not granted to the organization")
        for n, key in enumerate(keys)
        if grant is not None and key not in grant.role_keys
    ]
    if problems:
        raise InvalidArgument(problems)
    return await roles.find_by_keys(service, source.project, keys)


def _no_assignment() -> NotFound:
    return NotFound("there is no such role assignment", error_code="user_grant.not_found")


def view(assignment: RoleAssignment) -> AssignmentView:
    """Returns a role assignment in the form in which the API returns it."""
    return AssignmentView(
        id=assignment.id,
        details=answers.details(assignment, assignment.org_id),
        user_id=assignment.user_id,
        project_id=assignment.project_id,
        role_keys=assignment.role_keys,
        project_grant_id=(
            grant_ids.of_grant(assignment.project_id, assignment.org_id)
            if assignment.granted_by
            else ""
        ),
    )
