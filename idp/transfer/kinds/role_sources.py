"""The projects and project grants from which rows give roles to users and groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Protocol

from msgspec import Struct

from idp.identity.users import grant_ids
from idp.management.projects import roles
from idp.management.projects.role_assignments import AssignmentSource
from idp.records import (
    PROJECT_GRANTS,
    PROJECT_ROLES,
    PROJECTS,
    Project,
    ProjectGrant,
    ProjectRole,
)
from idp.transfer.kinds import upsert
from idp.transfer.kinds.kind import ImportContext
from idp.transfer.package.rows import ParsedRow, RowProblem


class RoleAssigningRow(Protocol):
    """A row that assigns roles of a project; with `project_grant_id`, by the grant of the project
    to the row's organization."""

    @property
    def project_id(self) -> str: ...

    @property
    def role_keys(self) -> Sequence[str]: ...

    @property
    def project_grant_id(self) -> str: ...


class RoleReferences(Struct, frozen=True):
    """The existing projects, roles and project grants to which the rows of a batch refer."""

    projects: Mapping[str, Project]
    roles: Mapping[str, ProjectRole]
    grants: Mapping[str, ProjectGrant]

    def source(self, parsed: ParsedRow, row: RoleAssigningRow) -> AssignmentSource | None:
        """Returns the project or the project grant by which the row's organization may assign
        roles; None if there is none.
        """
        project = self.projects.get(row.project_id)
        if project is None:
            return None
        if not row.project_grant_id:
            return AssignmentSource(project) if project.org_id == parsed.row.org_id else None
        grant = self.grants.get(grant_ids.of_grant(project.id, parsed.row.org_id))
        return AssignmentSource(project, grant) if grant else None

    def assigned_roles(self, source: AssignmentSource, row: RoleAssigningRow) -> list[ProjectRole]:
        """Returns the roles that the row assigns. All of them exist if `problems` yielded none."""
        ids = [roles.id_of(source.project.id, key) for key in dict.fromkeys(row.role_keys)]
        return [self.roles[role_id] for role_id in ids]

    def problems(self, parsed: ParsedRow, row: RoleAssigningRow) -> Iterator[RowProblem]:
        """Yields the problems that prevent the row from assigning its roles."""
        source = self.source(parsed, row)
        if source is None:
            yield _NOT_GRANTED if row.project_grant_id else upsert.project_not_found("projectId")
            return
        for n, key in enumerate(row.role_keys):
            is_role = roles.id_of(source.project.id, key) in self.roles
            if source.grant is not None and is_role and key not in source.grant.role_keys:
                message, fix = "is not granted to the organization", "Grant it, or leave it out."
                yield RowProblem(
                    error_code="role.not_granted", field=f"roleKeys[{n}]", message=message, fix=fix
                )
            elif not is_role:
                message, fix = (
                    "is not a role of the project",
                    "Put it into the package's projectRoles.",
                )
                yield RowProblem(
                    error_code="role.not_found", field=f"roleKeys[{n}]", message=message, fix=fix
                )


async def read(
    context: ImportContext, rows: Iterable[tuple[ParsedRow, RoleAssigningRow]]
) -> RoleReferences:
    """Returns the records to which rows refer, read in a few round trips."""
    pairs = list(rows)
    role_ids = (roles.id_of(row.project_id, key) for _, row in pairs for key in row.role_keys)
    of_grants = (
        grant_ids.of_grant(row.project_id, parsed.row.org_id)
        for parsed, row in pairs
        if row.project_grant_id
    )
    return RoleReferences(
        await upsert.by_id(context, PROJECTS, (row.project_id for _, row in pairs)),
        await upsert.by_id(context, PROJECT_ROLES, role_ids),
        await upsert.by_id(context, PROJECT_GRANTS, of_grants),
    )


_NOT_GRANTED: Final = RowProblem(
    error_code="user_grant.project_grant",
    field="projectGrantId",
    message="is for a project that is not granted to the organization",
    fix="Put the grant into the package's projectGrants, at the project's organization.",
)
