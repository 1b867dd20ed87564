"""/management/v1/projects: projects and the roles in them."""

from __future__ import annotations

from functools import partial
from typing import Final

from idp.api.operation import operation
from idp.clients import (
    project_grants,
    project_removal,
    project_states,
    projects,
    role_assignments,
    roles,
    search_project_grants,
    search_projects,
)

_PROJECTS: Final = "/management/v1/projects"
_PROJECT: Final = f"{_PROJECTS}/{{projectId}}"
_GRANTS: Final = f"{_PROJECT}/grants"
_GRANT: Final = f"{_GRANTS}/{{grantId}}"

OPERATIONS = (
    operation("POST", _PROJECTS, "project.write", projects.create),
    operation("POST", f"{_PROJECTS}/_search", "project.read", search_projects.projects_of),
    operation("GET", _PROJECT, "project.read", projects.show),
    operation("PUT", _PROJECT, "project.write", projects.change, conditional=True),
    operation(
        "POST",
        f"{_PROJECT}/_deactivate",
        "project.write",
        partial(project_states.change, name="deactivate"),
        conditional=True,
        summary="Shut a project with its applications; all that was issued to these ends.",
    ),
    operation(
        "POST",
        f"{_PROJECT}/_reactivate",
        "project.write",
        partial(project_states.change, name="reactivate"),
        conditional=True,
        summary="Let a deactivated project and its applications work again.",
    ),
    operation("DELETE", _PROJECT, "project.write", project_removal.remove, conditional=True),
    operation("GET", f"{_PROJECT}/roles", "project.read", roles.listed),
    operation("POST", f"{_PROJECT}/roles", "project.write", roles.add),
    operation(
        "PUT", f"{_PROJECT}/roles/{{roleKey}}", "project.write", roles.change, conditional=True
    ),
    operation(
        "DELETE", f"{_PROJECT}/roles/{{roleKey}}", "project.write", role_assignments.remove_role
    ),
    operation("POST", _GRANTS, "project.write", project_grants.create),
    operation("POST", f"{_GRANTS}/_search", "project.read", search_project_grants.search),
    operation("GET", _GRANT, "project.read", project_grants.show),
    operation("PUT", _GRANT, "project.write", project_grants.change, conditional=True),
    operation(
        "POST",
        f"{_GRANT}/_deactivate",
        "project.write",
        partial(project_grants.switch, name="deactivate"),
        conditional=True,
        summary="Suspend a grant; what was issued to users who need it ends.",
    ),
    operation(
        "POST",
        f"{_GRANT}/_reactivate",
        "project.write",
        partial(project_grants.switch, name="reactivate"),
        conditional=True,
        summary="Let a deactivated grant count again.",
    ),
    operation("DELETE", _GRANT, "project.write", project_grants.remove, conditional=True),
)
