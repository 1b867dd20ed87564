"""The ids of project grants and role assignments, and whether an assignment is in force."""

from __future__ import annotations

from idp.foundation import opaque_tokens
from idp.records import ProjectGrant, RoleAssignment
from idp.records.groups import GroupGrant


def of_grant(project_id: str, granted_org_id: str) -> str:
    """Returns the id of the one grant of a project to an organization."""
    return opaque_tokens.digest(f"{project_id}\n{granted_org_id}")


def of_assignment(user_id: str, project_id: str) -> str:
    """Returns the id of the one record of a user's roles in a project."""
    return opaque_tokens.digest(f"{user_id}\n{project_id}")


def is_in_force(assignment: RoleAssignment | GroupGrant, grant: ProjectGrant | None) -> bool:
    """Returns whether a role assignment, or the grant of roles to a group, is in force. `grant` is
    that of the project to the assignment's organization, if there is one: an assignment by a grant
    is in force while the grant is active."""
    if assignment.granted_by is None:
        return True
    return (
        grant is not None and grant.state == "active" and grant.generation == assignment.granted_by
    )
