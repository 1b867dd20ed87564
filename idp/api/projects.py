"""Operations at /management/v1/projects: projects, their roles and grants."""

from __future__ import annotations

from functools import partial
from typing import Final

from idp.api.operation import named_in, operation
from idp.management.projects import (
    project_grants,
    projects,
    role_assignments,
    roles,
    search_project_grants,
    search_projects,
)
from idp.management.projects import removal as project_removal
from idp.management.projects import states as project_states

_PROJECTS: Final = "/management/v1/projects"
_PROJECT: Final = f"{_PROJECTS}/{{projectId}}"
_GRANTS: Final = f"{_PROJECT}/grants"
_GRANT: Final = f"{_GRANTS}/{{grantId}}"

CREATE: Final = operation(
    f"POST {_PROJECTS}",
    "project.write",
    projects.create,
    name="projects_create",
    summary="Create a project in the call's organization.",
)
SEARCH: Final = operation(
    f"POST {_PROJECTS}/_search",
    "project.read",
    search_projects.projects_of,
    name="search_projects_projects_of",
    summary="Search for projects in all organizations that the caller may read.",
)
READ: Final = operation(
    f"GET {_PROJECT}",
    "project.read",
    projects.show,
    name="projects_show",
    summary="Get a project.",
)
CHANGE: Final = operation(
    f"PUT {_PROJECT}",
    "project.write",
    projects.change,
    name="projects_change",
    summary="Change a project's name and checks.",
    conditional=True,
)
DEACTIVATE: Final = operation(
    f"POST {_PROJECT}/_deactivate",
    "project.write",
    partial(project_states.change, name="deactivate"),
    name="project_states_change_deactivate",
    conditional=True,
    summary="Deactivate a project with its applications; all their tokens are revoked.",
)
REACTIVATE: Final = operation(
    f"POST {_PROJECT}/_reactivate",
    "project.write",
    partial(project_states.change, name="reactivate"),
    name="project_states_change_reactivate",
    conditional=True,
    summary="Reactivate a project and its applications.",
)
REMOVE: Final = operation(
    f"DELETE {_PROJECT}",
    "project.write",
    project_removal.remove,
    name="project_removal_remove",
    summary="Delete a project with its applications and their keys, its roles and their"
    " assignments.",
    conditional=True,
)
ROLES: Final = operation(
    f"GET {_PROJECT}/roles",
    "project.read",
    roles.find_all,
    name="roles_listed",
    summary="List the roles of a project by key, the first thousand.",
)
ADD_ROLE: Final = operation(
    f"POST {_PROJECT}/roles",
    "project.write",
    roles.add,
    name="roles_add",
    summary="Add a role to a project.",
)
CHANGE_ROLE: Final = operation(
    f"PUT {_PROJECT}/roles/{{roleKey}}",
    "project.write",
    roles.change,
    name="roles_change",
    summary="Change the display name and the group of a role; its key stays the same.",
    conditional=True,
)
REMOVE_ROLE: Final = operation(
    f"DELETE {_PROJECT}/roles/{{roleKey}}",
    "project.write",
    role_assignments.remove_role,
    name="role_assignments_remove_role",
    summary="Delete a role of a project; users who have it lose it.",
)
CREATE_GRANT: Final = operation(
    f"POST {_GRANTS}",
    "project.write",
    project_grants.create,
    name="project_grants_create",
    summary="Grant a project to another organization, which can then assign the granted roles"
    " to its users.",
)
SEARCH_GRANTS: Final = operation(
    f"POST {_GRANTS}/_search",
    "project.read",
    search_project_grants.search,
    name="search_project_grants_search",
    summary="Search for grants of a project.",
)
READ_GRANT: Final = operation(
    f"GET {_GRANT}",
    "project.read",
    project_grants.show,
    name="project_grants_show",
    summary="Get a project grant.",
)
CHANGE_GRANT: Final = operation(
    f"PUT {_GRANT}",
    "project.write",
    project_grants.change,
    name="project_grants_change",
    summary="Replace the granted roles; users lose those that are no longer granted.",
    conditional=True,
)
DEACTIVATE_GRANT: Final = operation(
    f"POST {_GRANT}/_deactivate",
    "project.write",
    partial(project_grants.change_state, name="deactivate"),
    name="project_grants_switch_deactivate",
    conditional=True,
    summary="Deactivate a project grant; tokens of users who depend on it are revoked.",
)
REACTIVATE_GRANT: Final = operation(
    f"POST {_GRANT}/_reactivate",
    "project.write",
    partial(project_grants.change_state, name="reactivate"),
    name="project_grants_switch_reactivate",
    conditional=True,
    summary="Reactivate a project grant.",
)
REMOVE_GRANT: Final = operation(
    f"DELETE {_GRANT}",
    "project.write",
    project_grants.remove,
    name="project_grants_remove",
    summary="Delete a project grant.",
    conditional=True,
)
OPERATIONS: Final = named_in(globals())
