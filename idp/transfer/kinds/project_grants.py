"""The kind of rows `projectGrants`: the organizations that a project is granted to, with the
granted roles.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, Literal

from msgspec import Struct, structs

from idp.identity.users import grant_ids, organizations
from idp.management.projects import project_grants, projects, roles
from idp.records import (
    ORGANIZATIONS,
    PROJECT_GRANTS,
    PROJECT_ROLES,
    PROJECTS,
    Organization,
    Project,
    ProjectGrant,
    ProjectRole,
)
from idp.schema.field_rules import Items, Name, OneOf, Text
from idp.schema.reading import Request
from idp.transfer.kinds import export_iteration, upsert
from idp.transfer.kinds.kind import ExportContext, ImportContext, RowKind
from idp.transfer.kinds.packaged_ids import named
from idp.transfer.kinds.upsert import UpsertPlan
from idp.transfer.package.rows import ParsedRow, RowPlan, RowProblem, refused
from storage import Write, upgrades

_STATES: Final[dict[str, Literal["active", "inactive"]]] = {
    "PROJECT_GRANT_STATE_ACTIVE": "active",
    "PROJECT_GRANT_STATE_INACTIVE": "inactive",
}
_NAMES: Final = {state: name for name, state in _STATES.items()}


class PackagedGrant(Request, frozen=True, kw_only=True):
    project_id: Name
    granted_org_id: Name
    role_keys: Annotated[list[Name], Items(100)] = []
    state: Annotated[str, OneOf(tuple(_STATES))] | None = None


class ProjectGrantRow(Request, frozen=True, kw_only=True):
    """A project granted to an organization.

    The package's id is not stored: the id follows from project and organization.
    """

    grant_id: Annotated[str, Text()] = ""
    project_grant: PackagedGrant


class _GrantReferences(Struct, frozen=True):
    """The existing records to which the rows of a batch refer."""

    projects: Mapping[str, Project]
    organizations: Mapping[str, Organization]
    roles: Mapping[str, ProjectRole]
    stored: Mapping[str, ProjectGrant]
    closing: Sequence[Write]


async def plan_rows(context: ImportContext, parsed_rows: Sequence[ParsedRow]) -> list[RowPlan]:
    """Plans rows of project grants to existing organizations (`RowKind.plan`): each is created,
    skipped, or given more roles.
    """
    rows = [_row(parsed) for parsed in parsed_rows]
    role_ids = (roles.id_of(row.project_id, key) for row in rows for key in row.role_keys)
    ids = (grant_ids.of_grant(row.project_id, row.granted_org_id) for row in rows)
    references = _GrantReferences(
        await upsert.by_id(context, PROJECTS, (row.project_id for row in rows)),
        await upsert.by_id(context, ORGANIZATIONS, (row.granted_org_id for row in rows)),
        await upsert.by_id(context, PROJECT_ROLES, role_ids),
        await upsert.by_id(context, PROJECT_GRANTS, ids),
        # Older programs would misread grants, so the first one closes the store to them.
        await upgrades.closing(context.service.store, project_grants.READABLE_SINCE),
    )
    return [
        _plan_row(context, parsed, row, references)
        for parsed, row in zip(parsed_rows, rows, strict=True)
    ]


def _row(parsed: ParsedRow) -> PackagedGrant:
    assert isinstance(parsed.request, ProjectGrantRow)  # noqa: S101 - for mypy
    return parsed.request.project_grant


def _plan_row(
    context: ImportContext, parsed: ParsedRow, row: PackagedGrant, references: _GrantReferences
) -> RowPlan:
    name = f"{row.project_id}_{row.granted_org_id}"
    project = references.projects.get(row.project_id)
    organization = references.organizations.get(row.granted_org_id)
    problems = list(_problems(parsed, row, references))
    if project is None or organization is None or problems:
        return refused(name, *problems)
    ids = [roles.id_of(project.id, key) for key in dict.fromkeys(row.role_keys)]
    role_records = [references.roles[role_id] for role_id in ids]
    grant = project_grants.new(context.service, project, organization.id, role_records)
    stored = references.stored.get(grant.id)

    def further_writes(before: object, _: object) -> Sequence[Write]:
        if before is not None:
            return roles.unchanged(role_records)
        guards = [projects.state_unchanged(project), organizations.state_unchanged(organization)]
        return [*roles.unchanged(role_records), *guards, *references.closing]

    plan = UpsertPlan(
        id=name,
        collection=PROJECT_GRANTS,
        record=structs.replace(grant, state=_STATES[row.state] if row.state else "active"),
        type="project_grant",
        # Roles are only added: users would lose those that are removed.
        fields=() if stored and _is_less(stored, row) else ("role_keys",),
        further_writes=further_writes,
        payload={"project": project.id, "grantedOrganization": organization.id},
        warnings=tuple(_unchanged_warnings(row, stored)),
    )
    return upsert.plan_record(context, parsed, stored, plan)


def _is_less(stored: ProjectGrant, row: PackagedGrant) -> bool:
    return not set(stored.role_keys) <= set(row.role_keys)


def _unchanged_warnings(row: PackagedGrant, stored: ProjectGrant | None) -> Iterator[RowProblem]:
    """Yields warnings of the fields that an import does not change, because users would lose their
    assigned roles.
    """
    fix = "Change the grant through the API."
    if stored is not None and _is_less(stored, row):
        yield RowProblem(
            error_code="project_grant.roles",
            field="projectGrant.roleKeys",
            message="stay the same: users have roles that would no longer be granted",
            fix=fix,
            is_error=False,
        )
    if stored is not None and row.state and _STATES[row.state] != stored.state:
        yield RowProblem(
            error_code="project_grant.state",
            field="projectGrant.state",
            message=f"stays {stored.state}",
            fix=fix,
            is_error=False,
        )


def _problems(
    parsed: ParsedRow, row: PackagedGrant, references: _GrantReferences
) -> Iterator[RowProblem]:
    project = references.projects.get(row.project_id)
    if row.granted_org_id not in references.organizations:
        yield RowProblem(
            error_code="organization.not_found",
            field="projectGrant.grantedOrgId",
            message="is not an organization of this installation or of the package",
            fix="Make it first, or put it into the package; if it is there, correct its own row.",
        )
    if project is None or project.org_id != parsed.row.org_id:
        yield upsert.project_not_found("projectGrant.projectId")
        return
    if row.granted_org_id == project.org_id:
        yield RowProblem(
            error_code="project_grant.own",
            field="projectGrant.grantedOrgId",
            message="is the organization that owns the project",
            fix="Leave the row out: its users can use the project anyway.",
        )
    for n, key in enumerate(row.role_keys):
        if roles.id_of(project.id, key) not in references.roles:
            message, fix = (
                ("is not a role of the project"),
                "Put it into the package's projectRoles.",
            )
            field = f"projectGrant.roleKeys[{n}]"
            yield RowProblem(error_code="role.not_found", field=field, message=message, fix=fix)


async def export(
    context: ExportContext, organization: Organization
) -> AsyncIterator[dict[str, Any]]:
    """Yields a row for each grant of the organization's projects to another organization."""
    where = {"org_id": organization.id}
    async for grant in export_iteration.records(context.view, PROJECT_GRANTS, where):
        row = {
            "projectId": grant.project_id,
            "grantedOrgId": grant.granted_org_id,
            "roleKeys": grant.role_keys,
            "state": _NAMES[grant.state],
        }
        yield {"grantId": grant.id, "projectGrant": row}


KIND: Final = RowKind(
    member="projectGrants",
    type="project_grant",
    request=ProjectGrantRow,
    name=named("grantId"),
    plan=plan_rows,
    is_independent=True,
    export=export,
)
