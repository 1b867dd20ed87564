"""The kind of rows `userGrants`: roles of users in the organization's projects, or in projects
that are granted to it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Annotated, Any, Final

from idp.identity.users import grant_ids
from idp.identity.users import lookup as user_lookup
from idp.management.projects import role_assignments, roles
from idp.records import ROLE_ASSIGNMENTS, USERS, Organization, RoleAssignment, User
from idp.schema.field_rules import Items, Name, Text
from idp.schema.reading import Request
from idp.transfer.kinds import export_iteration, role_sources, upsert
from idp.transfer.kinds.kind import ExportContext, ImportContext, RowKind
from idp.transfer.kinds.packaged_ids import named
from idp.transfer.kinds.role_sources import RoleReferences
from idp.transfer.kinds.upsert import UpsertPlan
from idp.transfer.package.rows import ParsedRow, RowPlan, RowProblem, refused
from storage import Write

_MAX_ROLES: Final = 100


class GrantRow(Request, frozen=True, kw_only=True):
    user_id: Name
    project_id: Name
    role_keys: Annotated[list[Name], Items(_MAX_ROLES, min=1)]
    project_grant_id: Annotated[str, Text()] = ""


async def plan_rows(context: ImportContext, parsed_rows: Sequence[ParsedRow]) -> list[RowPlan]:
    """Plans rows of role assignments (`RowKind.plan`): each is created, skipped or, if the import
    updates records, given other roles.

    The user may belong to another organization where the project is the organization's own.
    """
    rows = [_row(parsed) for parsed in parsed_rows]
    ids = (grant_ids.of_assignment(row.user_id, row.project_id) for row in rows)
    references = await role_sources.read(context, zip(parsed_rows, rows, strict=True))
    users = await upsert.by_id(context, USERS, (row.user_id for row in rows))
    stored = await upsert.by_id(context, ROLE_ASSIGNMENTS, ids)
    return [
        _plan_row(context, parsed, users.get(_row(parsed).user_id), references, stored)
        for parsed in parsed_rows
    ]


def _row(parsed: ParsedRow) -> GrantRow:
    assert isinstance(parsed.request, GrantRow)  # noqa: S101 - for mypy
    return parsed.request


def _plan_row(
    context: ImportContext,
    parsed: ParsedRow,
    user: User | None,
    references: RoleReferences,
    stored: Mapping[str, RoleAssignment],
) -> RowPlan:
    row = _row(parsed)
    row_id = f"{row.project_id}_{row.user_id}"
    source = references.source(parsed, row)
    problems = [*_user_problems(parsed, row, user), *references.problems(parsed, row)]
    if user is None or source is None or problems:
        return refused(row_id, *problems)
    role_records = references.assigned_roles(source, row)

    def further_writes(before: object, _: object) -> Sequence[Write]:
        guards = [*roles.unchanged(role_records), *source.unchanged()]
        return [*guards, user_lookup.exists_guard(user)] if before is None else guards

    assignment = role_assignments.new(context.service, user, source, role_records)
    plan = UpsertPlan(
        id=row_id,
        collection=ROLE_ASSIGNMENTS,
        record=assignment,
        type="role_assignment",
        fields=("role_keys",),
        further_writes=further_writes,
        payload={"user": user.id, "project": source.project.id},
    )
    return upsert.plan_record(context, parsed, stored.get(assignment.id), plan)


def _user_problems(parsed: ParsedRow, row: GrantRow, user: User | None) -> Iterator[RowProblem]:
    is_granted = bool(row.project_grant_id)
    if user is None or (is_granted and user.org_id != parsed.row.org_id):
        yield upsert.user_not_found("userId")


async def export(
    context: ExportContext, organization: Organization
) -> AsyncIterator[dict[str, Any]]:
    """Yields a row for each role assignment that the organization has made."""
    where = {"org_id": organization.id}
    async for assignment in export_iteration.records(context.view, ROLE_ASSIGNMENTS, where):
        grant = (
            grant_ids.of_grant(assignment.project_id, assignment.org_id)
            if assignment.granted_by
            else None
        )
        yield export_iteration.non_empty(
            {
                "userId": assignment.user_id,
                "projectId": assignment.project_id,
                "projectGrantId": grant,
                "roleKeys": assignment.role_keys,
            }
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
