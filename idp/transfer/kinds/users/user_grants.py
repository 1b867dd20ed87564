"""The kind of rows `userGrants`: roles of users in the organization's projects, or in projects
that are granted to it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Annotated, Any, Final

from msgspec import Struct

from idp.identity.users import grant_ids
from idp.identity.users import lookup as user_lookup
from idp.management.projects import role_assignments, roles
from idp.management.projects.role_assignments import AssignmentSource
from idp.records import (
    PROJECT_GRANTS,
    PROJECT_ROLES,
    PROJECTS,
    ROLE_ASSIGNMENTS,
    USERS,
    Organization,
    Project,
    ProjectGrant,
    ProjectRole,
    RoleAssignment,
    User,
)
from idp.schema.field_rules import Items, Name, Text
from idp.schema.reading import Request
from idp.transfer.kinds import export_iteration, upsert
from idp.transfer.kinds.kind import ExportContext, ImportContext, RowKind
from idp.transfer.kinds.packaged_ids import named
from idp.transfer.kinds.upsert import UpsertPlan
from idp.transfer.package.rows import ParsedRow, RowPlan, RowProblem, refused
from storage import Write

_MAX_ROLES: Final = 100


class GrantRow(Request, frozen=True, kw_only=True):
    user_id: Name
    project_id: Name
    role_keys: Annotated[list[Name], Items(_MAX_ROLES, min=1)]
    project_grant_id: Annotated[str, Text()] = ""


class _AssignmentReferences(Struct, frozen=True):
    """The existing records to which the rows of a batch refer."""

    users: Mapping[str, User]
    projects: Mapping[str, Project]
    roles: Mapping[str, ProjectRole]
    known: Mapping[str, RoleAssignment]
    grants: Mapping[str, ProjectGrant]

    def source(self, parsed: ParsedRow, row: GrantRow) -> AssignmentSource | None:
        """Returns what entitles the row's organization to assign roles of the project; None if
        nothing does.
        """
        project = self.projects.get(row.project_id)
        if project is None:
            return None
        if not row.project_grant_id:
            return AssignmentSource(project) if project.org_id == parsed.row.org_id else None
        grant = self.grants.get(grant_ids.of_grant(project.id, parsed.row.org_id))
        return AssignmentSource(project, grant) if grant else None


async def plan_rows(context: ImportContext, parsed_rows: Sequence[ParsedRow]) -> list[RowPlan]:
    """Plans rows of role assignments (`RowKind.plan`): each is created, skipped or, if the import
    updates records, given other roles.

    The user may belong to another organization where the project is the organization's own.
    """
    rows = [_row(parsed) for parsed in parsed_rows]
    role_ids = (roles.id_of(row.project_id, key) for row in rows for key in row.role_keys)
    ids = (grant_ids.of_assignment(row.user_id, row.project_id) for row in rows)
    of_grants = (
        grant_ids.of_grant(row.project_id, parsed.row.org_id)
        for parsed, row in zip(parsed_rows, rows, strict=True)
        if row.project_grant_id
    )
    references = _AssignmentReferences(
        await upsert.by_id(context, USERS, (row.user_id for row in rows)),
        await upsert.by_id(context, PROJECTS, (row.project_id for row in rows)),
        await upsert.by_id(context, PROJECT_ROLES, role_ids),
        await upsert.by_id(context, ROLE_ASSIGNMENTS, ids),
        await upsert.by_id(context, PROJECT_GRANTS, of_grants),
    )
    return [
        _plan_row(context, parsed, row, references)
        for parsed, row in zip(parsed_rows, rows, strict=True)
    ]


def _row(parsed: ParsedRow) -> GrantRow:
    assert isinstance(parsed.request, GrantRow)  # noqa: S101 - for mypy
    return parsed.request


def _plan_row(
    context: ImportContext, parsed: ParsedRow, row: GrantRow, references: _AssignmentReferences
) -> RowPlan:
    id = f"{row.project_id}_{row.user_id}"
    user, source = references.users.get(row.user_id), references.source(parsed, row)
    problems = list(_problems(parsed, row, references))
    if user is None or source is None or problems:
        return refused(id, *problems)
    project = source.project
    ids = [roles.id_of(project.id, key) for key in dict.fromkeys(row.role_keys)]
    given = [references.roles[id] for id in ids]

    def also(before: object, _: object) -> Sequence[Write]:
        guards = [*roles.unchanged(given), *source.unchanged()]
        return [*guards, user_lookup.exists_guard(user)] if before is None else guards

    made = role_assignments.new(context.service, user, source, given)
    plan = UpsertPlan(
        id=id,
        collection=ROLE_ASSIGNMENTS,
        record=made,
        type="role_assignment",
        fields=("role_keys",),
        also=also,
        payload={"user": user.id, "project": project.id},
    )
    return upsert.plan_record(context, parsed, references.known.get(made.id), plan)


def _problems(
    parsed: ParsedRow, row: GrantRow, references: _AssignmentReferences
) -> Iterator[RowProblem]:
    user, source = references.users.get(row.user_id), references.source(parsed, row)
    is_granted = bool(row.project_grant_id)
    if user is None or (is_granted and user.org_id != parsed.row.org_id):
        yield upsert.no_user("userId")
    if source is None:
        yield _NOT_GRANTED if is_granted else upsert.no_project("projectId")
        return
    for n, key in enumerate(row.role_keys):
        is_role = roles.id_of(source.project.id, key) in references.roles
        if source.grant is not None and is_role and key not in source.grant.role_keys:
            message, fix = "is not granted to the organization", "Grant it, or leave it out."
            yield RowProblem(
                error_code="role.not_granted", field=f"roleKeys[{n}]", message=message, fix=fix
            )
        elif not is_role:
            message, fix = "is no role of the project", "Put it into the package's projectRoles."
            yield RowProblem(
                error_code="role.not_found", field=f"roleKeys[{n}]", message=message, fix=fix
            )


async def export(
    context: ExportContext, organization: Organization
) -> AsyncIterator[dict[str, Any]]:
    """Yields a row for each role assignment that the organization has made."""
    where = {"org_id": organization.id}
    async for one in export_iteration.records(context.view, ROLE_ASSIGNMENTS, where):
        grant = grant_ids.of_grant(one.project_id, one.org_id) if one.granted_by else None
        yield export_iteration.non_empty(
            {
                "userId": one.user_id,
                "projectId": one.project_id,
                "projectGrantId": grant,
                "roleKeys": one.role_keys,
            }
        )


_NOT_GRANTED: Final = RowProblem(
    error_code="user_grant.project_grant",
    field="projectGrantId",
    message="is for a project that is not granted to the organization",
    fix="Put the grant into the package's projectGrants, at the project's organization.",
)
KINDS: Final = (
    RowKind(
        member="userGrants",
        type="user_grant",
        request=GrantRow,
        name=named("projectId", "userId"),
        plan=plan_rows,
        is_independent=True,
        export=export,
    ),
)
