"""/management/v1/projects: projects and the roles in them."""

from __future__ import annotations

from typing import Final

from idp.api.operation import operation
from idp.clients import projects, role_assignments, roles

_PROJECTS: Final = "/management/v1/projects"
_PROJECT: Final = f"{_PROJECTS}/{{projectId}}"

OPERATIONS = (
    operation("POST", _PROJECTS, "project.write", projects.create),
    operation("GET", _PROJECT, "project.read", projects.show),
    operation("GET", f"{_PROJECT}/roles", "project.read", roles.listed),
    operation("POST", f"{_PROJECT}/roles", "project.write", roles.add),
    operation(
        "DELETE", f"{_PROJECT}/roles/{{roleKey}}", "project.write", role_assignments.remove_role
    ),
)
