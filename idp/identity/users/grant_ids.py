"""The ids of project grants and role assignments, and whether an assignment counts."""

from __future__ import annotations

from idp.foundation import opaque_tokens
from idp.records import ProjectGrant, RoleAssignment


def of_grant(project_id: str, granted_org_id: str) -> str:
    """The id of the one grant of a project to an organization."""
    return opaque_tokens.digest(f"{project_id}\n{granted_org_id}")


def of_assignment(user_id: str, project_id: str) -> str:
    """The id of the one record that has a user's roles in a project."""
    return opaque_tokens.digest(f"{user_id}\n{project_id}")


def counts(one: RoleAssignment, grant: ProjectGrant | None) -> bool:
    """Whether a user has these roles now. `grant` is that of the project to the assignment's
    organization, if there is one: what was assigned by a grant counts while that is active."""
    if one.granted_by is None:
        return True
    return grant is not None and grant.state == "active" and grant.generation == one.granted_by
