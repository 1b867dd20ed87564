"""The kind of rows `groupGrants`: roles of the organization's groups in its projects, or in
projects that are granted to it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Annotated, Any, Final

from idp.identity.users import grant_ids, groups
from idp.management.groups import grants
from idp.management.projects import roles
from idp.records import Organization
from idp.records.groups import GROUP_GRANTS, GROUPS, Group, GroupGrant, grant_id
from idp.schema.field_rules import Items, Name, Text
from idp.schema.reading import Request
from idp.transfer.kinds import export_iteration, role_sources, upsert
from idp.transfer.kinds.groups import group_not_found, of_organization
from idp.transfer.kinds.kind import ExportContext, ImportContext, RowKind
from idp.transfer.kinds.packaged_ids import named
from idp.transfer.kinds.role_sources import RoleReferences
from idp.transfer.kinds.upsert import UpsertPlan
from idp.transfer.package.rows import ParsedRow, RowPlan, refused
from storage import Write


class GroupGrantRow(Request, frozen=True, kw_only=True):
    group_id: Name
    project_id: Name
    role_keys: Annotated[list[Name], Items(100, min=1)]
    project_grant_id: Annotated[str, Text()] = ""


async def plan_rows(context: ImportContext, parsed_rows: Sequence[ParsedRow]) -> list[RowPlan]:
    """Plans rows of roles of groups (`RowKind.plan`): each is created, skipped or, if the import
    updates records, replaced by other roles."""
    rows = [_row(parsed) for parsed in parsed_rows]
    ids = (grant_id(row.group_id, row.project_id) for row in rows)
    references = await role_sources.read(context, zip(parsed_rows, rows, strict=True))
    groups_by_id = await upsert.by_id(context, GROUPS, (row.group_id for row in rows))
    stored = await upsert.by_id(context, GROUP_GRANTS, ids)
    return [
        _plan_row(context, parsed, groups_by_id.get(row.group_id), references, stored)
        for parsed, row in zip(parsed_rows, rows, strict=True)
    ]


def _row(parsed: ParsedRow) -> GroupGrantRow:
    assert isinstance(parsed.request, GroupGrantRow)  # noqa: S101 - for mypy
    return parsed.request


def _plan_row(
    context: ImportContext,
    parsed: ParsedRow,
    group: Group | None,
    references: RoleReferences,
    stored: Mapping[str, GroupGrant],
) -> RowPlan:
    row = _row(parsed)
    name = f"{row.group_id}_{row.project_id}"
    source = references.source(parsed, row)
    problems = list(references.problems(parsed, row))
    if group is None or group.org_id != parsed.row.org_id:
        problems.insert(0, group_not_found("groupId"))
    if group is None or source is None or problems:
        return refused(name, *problems)
    role_records = references.assigned_roles(source, row)
    guards: Sequence[Write] = [
        *roles.unchanged(role_records),
        *source.unchanged(),
        groups.exists_guard(group),
    ]
    grant = grants.new(context.service, group, source, role_records)
    existing = stored.get(grant.id)
    is_outdated = existing is not None and existing.generation != group.generation
    plan = UpsertPlan(
        id=name,
        collection=GROUP_GRANTS,
        record=grant,
        type="group_grant",
        fields=("role_keys",),
        further_writes=lambda *_: guards,
        payload={"group": group.id, "project": source.project.id},
    )
    if existing is not None and is_outdated:  # of a deleted group with the same id
        values = {name: getattr(grant, name) for name in grants.REPLACED}
        return upsert.plan_update(context, parsed, existing, plan, values)
    return upsert.plan_record(context, parsed, existing, plan)


async def export(
    context: ExportContext, organization: Organization
) -> AsyncIterator[dict[str, Any]]:
    """Yields a row for each project in which a group of the organization has roles."""
    async for group in of_organization(context, organization):
        where = {"generation": group.generation}
        async for grant in export_iteration.records(context.view, GROUP_GRANTS, where):
            project_grant_id = (
                grant_ids.of_grant(grant.project_id, grant.org_id) if grant.granted_by else None
            )
            yield export_iteration.non_empty(
                {
                    "groupId": grant.group_id,
                    "projectId": grant.project_id,
                    "projectGrantId": project_grant_id,
                    "roleKeys": grant.role_keys,
                }
            )


KINDS: Final = (
    RowKind(
        member="groupGrants",
        type="group_grant",
        request=GroupGrantRow,
        name=named("groupId", "projectId"),
        plan=plan_rows,
        is_independent=True,
        export=export,
    ),
)
