"""The kinds of rows `projects` and `projectRoles`: projects, which group applications, and their
roles.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Annotated, Any, Final, Literal

from msgspec import structs

from idp.management.projects import allowed_users, projects, roles
from idp.management.projects.roles import NewRole
from idp.records import PROJECT_ROLES, PROJECTS, Organization, Project, ProjectRole
from idp.schema.field_rules import Name, OneOf, Text
from idp.schema.reading import Request
from idp.transfer.kinds import export_iteration, target_organizations, upsert
from idp.transfer.kinds.kind import ExportContext, ImportContext, RowKind
from idp.transfer.kinds.packaged_ids import RecordId, named
from idp.transfer.kinds.upsert import UpsertPlan
from idp.transfer.package.rows import ParsedRow, RowPlan, RowProblem, refused
from storage import Write

_STATES: Final[dict[str, Literal["active", "inactive"]]] = {
    "PROJECT_STATE_ACTIVE": "active",
    "PROJECT_STATE_INACTIVE": "inactive",
}
_NAMES: Final = {state: name for name, state in _STATES.items()}


class PackagedProject(Request, frozen=True, kw_only=True):
    """A project in a package.

    `projectRoleAssertion` is read and not stored, with a warning. A check that is omitted is off
    in a new project and unchanged in an existing one.
    """

    name: Name
    project_role_assertion: bool = False
    project_role_check: bool | None = None
    has_project_check: bool | None = None
    private_labeling_setting: Annotated[str, Text()] = ""
    state: Annotated[str, OneOf(tuple(_STATES))] | None = None


class ProjectRow(Request, frozen=True, kw_only=True):
    project_id: Annotated[str, RecordId()]
    project: PackagedProject


class RoleRow(NewRole, frozen=True, kw_only=True):
    """A row of a project's role. Without a display name, the role's key is displayed."""

    project_id: Name
    display_name: Annotated[str, Text()] = ""


async def plan_projects(context: ImportContext, parsed_rows: Sequence[ParsedRow]) -> list[RowPlan]:
    """Plans rows of projects (`RowKind.plan`): each is created with its id, skipped, or
    updated."""
    organizations = await target_organizations.by_id(context, parsed_rows)
    rows = [_project_row(parsed) for parsed in parsed_rows]
    stored = await upsert.by_id(context, PROJECTS, (row.project_id for row in rows))
    return [
        _plan_project(
            context, parsed, row, organizations.get(parsed.row.org_id), stored.get(row.project_id)
        )
        for parsed, row in zip(parsed_rows, rows, strict=True)
    ]


def _project_row(parsed: ParsedRow) -> ProjectRow:
    assert isinstance(parsed.request, ProjectRow)  # noqa: S101 - for mypy
    return parsed.request


def _plan_project(
    context: ImportContext,
    parsed: ParsedRow,
    row: ProjectRow,
    organization: Organization | None,
    stored: Project | None,
) -> RowPlan:
    if organization is None:
        return target_organizations.organization_not_found(row.project_id)
    if stored is not None and stored.org_id != organization.id:
        return upsert.not_in_organization(row.project_id, "projectId")
    now = context.service.clock.now()
    project = Project(
        id=row.project_id,
        org_id=organization.id,
        name=row.project.name,
        created_at=now,
        changed_at=now,
        state=_STATES[row.project.state] if row.project.state else "active",
    )
    checks = _checks(context, row.project, stored or project)
    plan = UpsertPlan(
        id=project.id,
        collection=PROJECTS,
        record=structs.replace(project, **checks),
        type="project",
        fields=("name", *checks),
        warnings=(*_not_stored(row.project), *_state_warning(row.project, stored)),
    )
    return upsert.plan_record(context, parsed, stored, plan)


def _checks(context: ImportContext, row: PackagedProject, project: Project) -> dict[str, Any]:
    """Returns the checks of the row, or those of `project` where the row has none."""
    grant, role = row.has_project_check, row.project_role_check
    return allowed_users.check_fields(
        context.service.random,
        project,
        requires_grant=project.requires_grant if grant is None else grant,
        requires_role=project.requires_role if role is None else role,
    )


def _not_stored(project: PackagedProject) -> Iterator[RowProblem]:
    message = "is not stored: which roles tokens contain is a setting of each application"
    if project.project_role_assertion:
        yield upsert.not_stored(
            "project.role_assertion.unsupported", "project.projectRoleAssertion", message
        )


def _state_warning(project: PackagedProject, stored: Project | None) -> Iterator[RowProblem]:
    if stored is not None and project.state and _STATES[project.state] != stored.state:
        message = f"stays {stored.state}: its applications would have to follow"
        fix = "Deactivate or reactivate the project through the API."
        yield RowProblem(
            error_code="project.state",
            field="project.state",
            message=message,
            fix=fix,
            is_error=False,
        )


async def plan_roles(context: ImportContext, parsed_rows: Sequence[ParsedRow]) -> list[RowPlan]:
    """Plans rows of roles in the organization's projects (`RowKind.plan`): each is created,
    skipped, or updated."""
    rows = [_role_row(parsed) for parsed in parsed_rows]
    owners = await upsert.by_id(context, PROJECTS, (row.project_id for row in rows))
    ids = [roles.id_of(row.project_id, row.role_key) for row in rows]
    stored = await upsert.by_id(context, PROJECT_ROLES, ids)
    return [
        _plan_role(context, parsed, row, owners.get(row.project_id), stored.get(role_id))
        for parsed, row, role_id in zip(parsed_rows, rows, ids, strict=True)
    ]


def _role_row(parsed: ParsedRow) -> RoleRow:
    assert isinstance(parsed.request, RoleRow)  # noqa: S101 - for mypy
    return parsed.request


def _plan_role(
    context: ImportContext,
    parsed: ParsedRow,
    row: RoleRow,
    project: Project | None,
    stored: ProjectRole | None,
) -> RowPlan:
    role_id = f"{row.project_id}_{row.role_key}"
    if project is None or project.org_id != parsed.row.org_id:
        return refused(role_id, upsert.project_not_found("projectId"))
    named_row = structs.replace(row, display_name=row.display_name or row.role_key)

    def further_writes(before: object, _: object) -> Sequence[Write]:
        return [projects.state_unchanged(project)] if before is None else ()

    plan = UpsertPlan(
        id=role_id,
        collection=PROJECT_ROLES,
        record=roles.new(context.service, project, named_row),
        type="project_role",
        fields=("display_name", "group") if row.group else ("display_name",),
        further_writes=further_writes,
        payload={"key": row.role_key},
    )
    return upsert.plan_record(context, parsed, stored, plan)


async def export_projects(
    context: ExportContext, organization: Organization
) -> AsyncIterator[dict[str, Any]]:
    """Yields a row for each project of the organization, in the order of their names."""
    async for project in export_iteration.projects(context.view, organization):
        members = {
            "name": project.name,
            "state": _NAMES[project.state],
            "projectRoleCheck": project.requires_role,
            "hasProjectCheck": project.requires_grant,
        }
        yield {"projectId": project.id, "project": members}


async def export_roles(
    context: ExportContext, organization: Organization
) -> AsyncIterator[dict[str, Any]]:
    """Yields a row for each role of the organization's projects, in the order of projects and role
    keys."""
    async for project in export_iteration.projects(context.view, organization):
        where = {"project_id": project.id}
        async for role in export_iteration.records(
            context.view, PROJECT_ROLES, where, order="key"
        ):
            yield export_iteration.non_empty(
                {
                    "projectId": project.id,
                    "roleKey": role.key,
                    "displayName": role.display_name,
                    "group": role.group,
                }
            )


PROJECT: Final = RowKind(
    member="projects",
    type="project",
    request=ProjectRow,
    name=named("projectId"),
    identity=("projectId",),
    plan=plan_projects,
    export=export_projects,
)
ROLE: Final = RowKind(
    member="projectRoles",
    type="project_role",
    request=RoleRow,
    name=named("projectId", "roleKey"),
    identity=("projectId", "roleKey"),
    plan=plan_roles,
    export=export_roles,
)
