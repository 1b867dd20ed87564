"""The organizations that a project is granted to: a sub-list of its page, and the actions."""

from __future__ import annotations

from typing import Final

from handlers.console.actions import Action, routes
from handlers.console.base import ConsoleHandler
from handlers.console.sections import CONSOLE
from handlers.console.sub_lists import fetch_page
from handlers.forms import cells
from handlers.forms.cells import Cell, action_link, sub_list
from handlers.forms.fields import FormField
from idp import api
from idp.foundation.i18n import message

_PAGE: Final = "/projects/{projectId}"
_GRANT_PATH: Final = f"{_PAGE}/grants/{{grantId}}"

_ROLES: Final = message("Roles", context="projects")
_STATE: Final = message("State", context="console")
_CHANGE: Final = message("Change", context="console")
_CHANGE_STATE: Final = message("Deactivate or reactivate", context="projects")
_ORGANIZATION: Final = message("Organization", context="users")
_ONE_PER_LINE: Final = message("One key per line.", context="projects")


def _roles(source: str = "") -> FormField:
    return FormField(
        path="roleKeys",
        source=source,
        label=_ROLES,
        hint=_ONE_PER_LINE,
        kind="lines",
        direction="ltr",
        is_sent_empty=True,
    )


ACTIONS: Final = (
    Action(
        path=f"{_PAGE}/grants/new",
        section="projects",
        operation=api.projects.CREATE_GRANT,
        loads=api.projects.READ,
        name="project.name",
        title=message("Grant the project", context="projects"),
        intro=message(
            "Users of the other organization can use the project's applications. "
            "Their administrators can assign the granted roles.",
            context="projects",
        ),
        button=message("Grant", context="projects"),
        fields=(
            FormField(
                path="grantedOrgId",
                label=message("ID of the other organization", context="projects"),
                direction="ltr",
                is_required=True,
            ),
            _roles(),
        ),
        next_path=_PAGE,
        confirmation="added",
        command="project-grant create --project {projectId} --granted-org-id ID --role-key KEY",
    ),
    Action(
        path=f"{_GRANT_PATH}/edit",
        section="projects",
        operation=api.projects.CHANGE_GRANT,
        loads=api.projects.READ_GRANT,
        name="projectGrant.grantedOrgName",
        title=message("Change the granted roles", context="projects"),
        intro=message(
            "Users lose a role that is no longer granted.",
            context="projects",
        ),
        button=message("Save", context="console"),
        fields=(_roles("projectGrant.grantedRoleKeys"),),
        next_path=_PAGE,
        confirmation="saved",
        command="project-grant change --project {projectId} {grantId} --role-key KEY",
    ),
    Action(
        path=f"{_GRANT_PATH}/deactivate",
        section="projects",
        operation=api.projects.DEACTIVATE_GRANT,
        loads=api.projects.READ_GRANT,
        name="projectGrant.grantedOrgName",
        title=message("Deactivate the grant", context="projects"),
        intro=message(
            "Users who depend on the grant are signed out of the applications.", context="projects"
        ),
        button=message("Deactivate", context="console"),
        is_dangerous=True,
        next_path=_PAGE,
        confirmation="deactivated",
        command="project-grant deactivate --project {projectId} {grantId}",
    ),
    Action(
        path=f"{_GRANT_PATH}/reactivate",
        section="projects",
        operation=api.projects.REACTIVATE_GRANT,
        loads=api.projects.READ_GRANT,
        name="projectGrant.grantedOrgName",
        title=message("Reactivate the grant", context="projects"),
        button=message("Reactivate", context="console"),
        next_path=_PAGE,
        confirmation="reactivated",
        command="project-grant reactivate --project {projectId} {grantId}",
    ),
    Action(
        path=f"{_GRANT_PATH}/delete",
        section="projects",
        operation=api.projects.REMOVE_GRANT,
        loads=api.projects.READ_GRANT,
        name="projectGrant.grantedOrgName",
        title=message("Revoke the grant", context="projects"),
        intro=message(
            "Roles assigned through the grant are removed. Users who depend on it are"
            " signed out of the applications.",
            context="projects",
        ),
        button=message("Delete", context="console"),
        is_dangerous=True,
        next_path=_PAGE,
        confirmation="deleted",
        command="project-grant delete --project {projectId} {grantId}",
    ),
)
_LABELS: Final = {
    "edit": _CHANGE,
    "deactivate": message("Deactivate", context="console"),
    "reactivate": message("Reactivate", context="console"),
    "delete": message("Delete", context="console"),
}


async def grant_list(page: ConsoleHandler, project_id: str) -> Cell:
    """Returns the template value of the organizations that a project is granted to, a sub-list of
    the project's page."""
    list_page = await fetch_page(page, "project-grants", api.projects.SEARCH_GRANTS, project_id)
    may_change = page.may("project.write")
    rows = [
        [
            cells.text(grant.get("grantedOrgName") or grant["grantedOrgId"]),
            cells.codes(grant.get("grantedRoleKeys", [])),
            cells.state_cell(grant.get("state", "")),
            *(
                [
                    _action_link(page, project_id, grant["grantId"], action)
                    for action in _action_links(grant)
                ]
                if may_change
                else []
            ),
        ]
        for grant in list_page.records
    ]
    label = message("Grant the project", context="projects")
    return sub_list(
        message("Granted to", context="projects"),
        [
            _ORGANIZATION,
            _ROLES,
            _STATE,
            *([_CHANGE, _CHANGE_STATE, _LABELS["delete"]] if may_change else []),
        ],
        rows,
        message("The project isn't granted to any organization.", context="projects"),
        [action_link(label, page.url_of(f"{CONSOLE}{_PAGE}/grants/new", project_id))]
        if may_change
        else [],
        list_page,
    )


def _action_links(grant: Cell) -> list[str]:
    is_active = str(grant.get("state", "")).endswith("_ACTIVE")
    return ["edit", "deactivate" if is_active else "reactivate", "delete"]


def _action_link(page: ConsoleHandler, project_id: str, grant_id: str, action: str) -> Cell:
    return cells.link(
        _LABELS[action], page.url_of(f"{CONSOLE}{_GRANT_PATH}/{action}", project_id, grant_id)
    )


ROUTES = routes(ACTIONS)
