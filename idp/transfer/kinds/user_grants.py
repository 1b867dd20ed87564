"""`userGrants`: the roles that users have in projects of the organization."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Annotated, Any, Final

from msgspec import Struct

from idp.clients import role_assignments, roles
from idp.fields import Items, Name, Text
from idp.identity import users
from idp.records import (
    PROJECT_ROLES,
    PROJECTS,
    ROLE_ASSIGNMENTS,
    USERS,
    Organization,
    Project,
    ProjectRole,
    RoleAssignment,
    User,
)
from idp.requests import Request
from idp.transfer.kinds import storing, telling
from idp.transfer.kinds.kind import Kind, Taking, Telling
from idp.transfer.kinds.packaged_ids import named
from idp.transfer.kinds.storing import Wanted
from idp.transfer.rows import Prepared, Problem, Read, refused
from storage import Write

_MAX_ROLES: Final = 100


class GrantRow(Request, frozen=True, kw_only=True):
    user_id: Name
    project_id: Name
    role_keys: Annotated[list[Name], Items(_MAX_ROLES, min=1)]
    project_grant_id: Annotated[str, Text()] = ""


class _Around(Struct, frozen=True):
    """What the rows of a batch refer to, as far as it is there."""

    users: Mapping[str, User]
    projects: Mapping[str, Project]
    roles: Mapping[str, ProjectRole]
    known: Mapping[str, RoleAssignment]


async def prepare(taking: Taking, reads: Sequence[Read]) -> list[Prepared]:
    """Users get roles of the organization's projects, keep what they have, or are changed. A user
    may be another organization's."""
    rows = [_row(read) for read in reads]
    role_ids = (roles.id_of(row.project_id, key) for row in rows for key in row.role_keys)
    ids = (role_assignments.id_of(row.user_id, row.project_id) for row in rows)
    around = _Around(
        await storing.by_id(taking, USERS, (row.user_id for row in rows)),
        await storing.by_id(taking, PROJECTS, (row.project_id for row in rows)),
        await storing.by_id(taking, PROJECT_ROLES, role_ids),
        await storing.by_id(taking, ROLE_ASSIGNMENTS, ids),
    )
    return [_prepare(taking, read, row, around) for read, row in zip(reads, rows, strict=True)]


def _row(read: Read) -> GrantRow:
    assert isinstance(read.request, GrantRow)  # noqa: S101 - told to mypy
    return read.request


def _prepare(taking: Taking, read: Read, row: GrantRow, around: _Around) -> Prepared:
    id = f"{row.project_id}_{row.user_id}"
    user, project = around.users.get(row.user_id), around.projects.get(row.project_id)
    problems = list(_problems(read, row, around))
    if user is None or project is None or problems:
        return refused(id, *problems)
    ids = [roles.id_of(project.id, key) for key in dict.fromkeys(row.role_keys)]
    given = [around.roles[id] for id in ids]

    def also(before: object, _: object) -> Sequence[Write]:
        guards = role_assignments.still_there(given)
        return [*guards, users.staying(user)] if before is None else guards

    made = role_assignments.new(taking.service, user, project, given)
    wanted = Wanted(
        id=id,
        collection=ROLE_ASSIGNMENTS,
        record=made,
        type="role_assignment",
        told=("role_keys",),
        also=also,
        payload={"user": user.id, "project": project.id},
    )
    return storing.stored(taking, read, around.known.get(made.id), wanted)


def _problems(read: Read, row: GrantRow, around: _Around) -> Iterator[Problem]:
    project = around.projects.get(row.project_id)
    if row.project_grant_id:
        yield _GRANTED
    if row.user_id not in around.users:
        yield storing.no_user("userId")
    if project is None or project.org_id != read.row.org_id:
        yield storing.no_project("projectId")
        return
    for n, key in enumerate(row.role_keys):
        if roles.id_of(project.id, key) not in around.roles:
            message, fix = "is no role of the project", "Put it into the package's projectRoles."
            yield Problem(slug="role.not_found", field=f"roleKeys[{n}]", message=message, fix=fix)


async def tell(telling_: Telling, organization: Organization) -> AsyncIterator[dict[str, Any]]:
    """Who has which roles in the organization's projects."""
    where = {"org_id": organization.id}
    async for one in telling.records(telling_.view, ROLE_ASSIGNMENTS, where):
        yield {
            "userId": one.user_id,
            "projectId": one.project_id,
            "roleKeys": one.role_keys,
        }


_GRANTED: Final = Problem(
    slug="user_grant.project_grant",
    field="projectGrantId",
    message="names a project that another organization has granted, which there is not here",
    fix="Give the roles in the organization that owns the project.",
)
KINDS: Final = (
    Kind(
        member="userGrants",
        type="user_grant",
        request=GrantRow,
        name=named("projectId", "userId"),
        prepare=prepare,
        stands_alone=True,
        tell=tell,
    ),
)
