"""Operations at /management/v1/projects: projects, their roles and grants."""

from __future__ import annotations

from functools import partial
from typing import Final

from idp.api.operation import operation
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

OPERATIONS = (
    operation(
        "POST",
        _PROJECTS,
        "project.write",
        projects.create,
        name="projects_create",
        summary="Make a project in the call's organization.",
    ),
    operation(
        "POST",
        f"{_PROJECTS}/_search",
        "project.read",
        search_projects.projects_of,
        name="search_projects_projects_of",
        summary="Find projects, in all organizations that the caller reaches.",
    ),
    operation(
        "GET",
        _PROJECT,
        "project.read",
        projects.show,
        name="projects_show",
        summary="What is known of a project.",
    ),
    operation(
        "PUT",
        _PROJECT,
        "project.write",
        projects.change,
        name="projects_change",
        summary="Change a project's name and checks.",
        conditional=True,
    ),
    operation(
        "POST",
        f"{_PROJECT}/_deactivate",
        "project.write",
        partial(project_states.change, name="deactivate"),
        name="project_states_change_deactivate",
        conditional=True,
        summary="Shut a project with its applications; all that was issued to these ends.",
    ),
    operation(
        "POST",
        f"{_PROJECT}/_reactivate",
        "project.write",
        partial(project_states.change, name="reactivate"),
        name="project_states_change_reactivate",
        conditional=True,
        summary="Let a deactivated project and its applications work again.",
    ),
    operation(
        "DELETE",
        _PROJECT,
        "project.write",
        project_removal.remove,
        name="project_removal_remove",
        summary="Delete a project with its applications and their keys, its roles, and who has"
        " these.",
        conditional=True,
    ),
    operation(
        "GET",
        f"{_PROJECT}/roles",
        "project.read",
        roles.listed,
        name="roles_listed",
        summary="The roles of a project by their keys, the first thousand of them.",
    ),
    operation(
        "POST",
        f"{_PROJECT}/roles",
        "project.write",
        roles.add,
        name="roles_add",
        summary="Let a project know one role more.",
    ),
    operation(
        "PUT",
        f"{_PROJECT}/roles/{{roleKey}}",
        "project.write",
        roles.change,
        name="roles_change",
        summary="Give a role another name for people, and another group; its key stays.",
        conditional=True,
    ),
    operation(
        "DELETE",
        f"{_PROJECT}/roles/{{roleKey}}",
        "project.write",
        role_assignments.remove_role,
        name="role_assignments_remove_role",
        summary="Let a project forget a role: whoever has it loses it.",
    ),
    operation(
        "POST",
        _GRANTS,
        "project.write",
        project_grants.create,
        name="project_grants_create",
        summary="Let another organization use a project, and assign these of its roles.",
    ),
    operation(
        "POST",
        f"{_GRANTS}/_search",
        "project.read",
        search_project_grants.search,
        name="search_project_grants_search",
        summary="Find the grants of a project.",
    ),
    operation(
        "GET",
        _GRANT,
        "project.read",
        project_grants.show,
        name="project_grants_show",
        summary="What a project lets an organization do.",
    ),
    operation(
        "PUT",
        _GRANT,
        "project.write",
        project_grants.change,
        name="project_grants_change",
        summary="Grant these roles instead of those that were granted; users lose one that is"
        " missing.",
        conditional=True,
    ),
    operation(
        "POST",
        f"{_GRANT}/_deactivate",
        "project.write",
        partial(project_grants.change_state, name="deactivate"),
        name="project_grants_switch_deactivate",
        conditional=True,
        summary="Suspend a grant; what was issued to users who need it ends.",
    ),
    operation(
        "POST",
        f"{_GRANT}/_reactivate",
        "project.write",
        partial(project_grants.change_state, name="reactivate"),
        name="project_grants_switch_reactivate",
        conditional=True,
        summary="Let a deactivated grant count again.",
    ),
    operation(
        "DELETE",
        _GRANT,
        "project.write",
        project_grants.remove,
        name="project_grants_remove",
        summary="Take a grant back.",
        conditional=True,
    ),
)
