"""Which roles of a project a user has: given, changed and taken away by who manages both."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated

from idp import answers, changes, credentials, events, listing
from idp.access import Call
from idp.answers import Answer, Details
from idp.changes import Changed
from idp.clients import projects, roles
from idp.errors import AlreadyExists, FieldProblem, InvalidArgument, NotFound
from idp.fields import Items, Name
from idp.identity import read_user
from idp.listing import ListDetails
from idp.records import (
    PROJECT_ROLES,
    ROLE_ASSIGNMENTS,
    USERS,
    Project,
    ProjectRole,
    RoleAssignment,
    User,
)
from idp.requests import Request
from idp.service import Service
from storage import Conflict, Stale, Update, Write
from storage.settling import commit_settled

_RoleKeys = Annotated[list[Name], Items(100, min=1)]


class NewAssignment(Request, frozen=True, kw_only=True):
    project_id: Name
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


class Assignments(Answer, frozen=True, kw_only=True):
    details: ListDetails
    result: list[AssignmentView] = []


async def create(
    service: Service, call: Call, user_id: str, request: NewAssignment
) -> AssignmentCreated:
    """Give a user roles of a project. The call has to reach both.

    Raises NotFound, InvalidArgument (a role that the project does not know), AlreadyExists.
    """

    async def attempt() -> RoleAssignment:
        user = await read_user.find(service, call, user_id)
        project = await _project(service, call, request.project_id)
        given = await _roles(service, project, request.role_keys)
        made = new(service, user, project, given)
        writes = _insertion(service, call, made)
        guards = [*still_there(given), Update(USERS, user.id, expect={"stamp": user.stamp})]
        await commit_settled(service.store, *writes, *guards)
        return made

    try:
        made = await changes.repeated(attempt)
    except Conflict:
        message = "the user has roles of this project already"
        raise AlreadyExists(message, slug="user_grant.exists", field="projectId") from None
    details = answers.details(made, made.org_id)
    return AssignmentCreated(user_grant_id=made.id, details=details)


def new(
    service: Service, user: User, project: Project, given: Sequence[ProjectRole]
) -> RoleAssignment:
    """The roles of a user in a project, not stored yet."""
    now = service.clock.now()
    return RoleAssignment(
        id=id_of(user.id, project.id),
        user_id=user.id,
        project_id=project.id,
        org_id=project.org_id,
        role_keys=[role.key for role in given],
        created_at=now,
        changed_at=now,
    )


def _insertion(service: Service, call: Call, made: RoleAssignment) -> list[Write]:
    return events.insertion(
        service.random,
        ROLE_ASSIGNMENTS,
        made,
        "role_assignment.created",
        call.actor,
        made.created_at,
        user=made.user_id,
        project=made.project_id,
    )


async def change(
    service: Service, call: Call, user_id: str, assignment_id: str, request: AssignmentChange
) -> Changed:
    """Give a user these roles of a project instead of those that they had.

    Raises NotFound, InvalidArgument (a role that the project does not know).
    """
    user = await read_user.find(service, call, user_id)
    given: Sequence[ProjectRole] = ()

    async def find() -> RoleAssignment:
        nonlocal given
        found = await _find(service, call, user, assignment_id)
        project = await projects.find(service, call, found.project_id)
        given = await _roles(service, project, request.role_keys)
        return found

    changed = await changes.changed(
        service,
        ROLE_ASSIGNMENTS,
        find,
        lambda _: {"role_keys": [role.key for role in given]},
        "role_assignment.changed",
        call,
        also=lambda *_: still_there(given),
    )
    return Changed(details=answers.details(changed, changed.org_id))


async def listed(service: Service, call: Call, user_id: str) -> Assignments:
    """The roles that a user has, project by project. Raises NotFound."""
    user = await read_user.find(service, call, user_id)
    details, found = await listing.of(service, ROLE_ASSIGNMENTS, {"user_id": user.id})
    reached = [view(one) for one in found if call.reaches(one.org_id)]
    hidden = len(found) - len(reached)
    total = ListDetails(total_result=str(int(details.total_result) - hidden))
    return Assignments(details=total, result=reached)


async def remove(service: Service, call: Call, user_id: str, assignment_id: str) -> Changed:
    """Take away all roles that a user has in a project. Raises NotFound."""
    user = await read_user.find(service, call, user_id)
    found = await _find(service, call, user, assignment_id)
    return await changes.removed(
        service,
        ROLE_ASSIGNMENTS,
        lambda: _find(service, call, user, assignment_id),
        "role_assignment.deleted",
        call,
        found.org_id,
    )


async def remove_role(service: Service, call: Call, project_id: str, key: str) -> Changed:
    """Let a project forget a role: whoever has it loses it. Raises NotFound.

    Those who have it now lose it first, and who is given it meanwhile right after: from then on
    nobody can be given it.
    """
    project = await projects.find(service, call, project_id)
    await roles.find(service, project, key)
    await _take_away(service, call, project, key)
    done = await changes.removed(
        service,
        PROJECT_ROLES,
        lambda: roles.find(service, project, key),
        "project_role.deleted",
        call,
        project.org_id,
    )
    await _take_away(service, call, project, key)
    return done


def id_of(user_id: str, project_id: str) -> str:
    """The id of the one record that has a user's roles in a project."""
    return credentials.digest(f"{user_id}\n{project_id}")


async def _take_away(service: Service, call: Call, project: Project, key: str) -> None:
    where = {"project_id": project.id}
    async for found in listing.each(service, ROLE_ASSIGNMENTS, where):
        one: RoleAssignment | None = found
        while one is not None and key in one.role_keys:
            with suppress(Stale):
                await service.store.commit(*_without(service, call, one, key))
            one = await service.store.get(ROLE_ASSIGNMENTS, one.id)


def _without(service: Service, call: Call, one: RoleAssignment, key: str) -> list[Write]:
    """The writes that strip an assignment of a role; without any, there is none."""
    now, left = service.clock.now(), [each for each in one.role_keys if each != key]
    if not left:
        type = "role_assignment.deleted"
        return changes.removal(service, ROLE_ASSIGNMENTS, one, type, call.actor, now)
    values, type = {"role_keys": left, "changed_at": now}, "role_assignment.changed"
    return events.update(service.random, ROLE_ASSIGNMENTS, one, values, type, call.actor, now)


async def _find(service: Service, call: Call, user: User, id: str) -> RoleAssignment:
    found = await service.store.get(ROLE_ASSIGNMENTS, id)
    if found is None or found.user_id != user.id or not call.reaches(found.org_id):
        raise _no_assignment()
    return found


async def _project(service: Service, call: Call, id: str) -> Project:
    try:
        return await projects.find(service, call, id)
    except NotFound as error:
        raise NotFound(error.message, slug=error.slug, field="projectId") from None


async def _roles(service: Service, project: Project, keys: Sequence[str]) -> list[ProjectRole]:
    wanted = [(PROJECT_ROLES, roles.id_of(project.id, key)) for key in keys]
    found = await service.store.get_many(wanted)
    problems = [
        FieldProblem("role.not_found", f"roleKeys[{n}]", "is no role of the project")
        for n, role in enumerate(found)
        if role is None
    ]
    if problems:
        raise InvalidArgument(problems)
    return list({role.key: role for role in found}.values())


def still_there(given: Sequence[ProjectRole]) -> list[Write]:
    """Guards: a role that is removed at the same moment is given to nobody."""
    return [Update(PROJECT_ROLES, role.id, expect={"sequence": role.sequence}) for role in given]


def _no_assignment() -> NotFound:
    return NotFound("there is no such assignment", slug="user_grant.not_found")


def view(one: RoleAssignment) -> AssignmentView:
    """An assignment as it is answered."""
    return AssignmentView(
        id=one.id,
        details=answers.details(one, one.org_id),
        user_id=one.user_id,
        project_id=one.project_id,
        role_keys=one.role_keys,
    )
