"""The console's pages that assign project roles to a user and remove them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from handlers.console.actions import Action, ActionHandler
from handlers.console.base import ConsoleHandler
from handlers.console.users.actions import PAGE_PATH, ROLES_PATH, SECTION
from handlers.forms.fields import FormField
from handlers.forms.run_operation import Document
from idp import api
from idp.foundation.errors import PermissionDenied
from idp.foundation.i18n import message

_PROJECT: Final = message("Project", context="console")
_ROLES: Final = FormField(
    path="roleKeys",
    label=message("Roles", context="console"),
    hint=message("The keys of the project's roles, one per line.", context="users"),
    kind="lines",
    direction="ltr",
    is_required=True,
)


class GrantHandler(ActionHandler):
    """Assigns roles of a project to a user. The project is chosen from a list, or entered by its
    id if the person may not list projects."""

    _projects: Sequence[Document] | None = None

    def fields(self) -> Sequence[FormField]:
        return fields_of(self._projects)

    async def load(self, *ids: str) -> Document:
        self._projects = await readable_projects(self)
        return await super().load(*ids)


def fields_of(projects: Sequence[Document] | None) -> tuple[FormField, ...]:
    """Returns the fields of a form that assigns roles in one of these projects. `projects` is None
    if the person may not list projects."""
    if projects is None:
        hint = message("The ID of the project.", context="users")
        project_field = FormField(path="projectId", label=_PROJECT, hint=hint, is_required=True)
        return (project_field, _ROLES)
    options = [(project["id"], project["name"]) for project in projects]
    return (FormField(path="projectId", label=_PROJECT, kind="choice", options=options), _ROLES)


async def readable_projects(page: ConsoleHandler) -> Sequence[Document] | None:
    """Returns the projects that the person may read; None if the person may not list projects."""
    try:
        answer = await page.run(api.projects.SEARCH, document={})
    except PermissionDenied:
        return None
    projects: Sequence[Document] = answer.get("result", [])
    return projects


ACTIONS: Final = (
    Action(
        path=f"{PAGE_PATH}/grants/new",
        section=SECTION,
        operation=api.users.CREATE_GRANT,
        loads=api.users.READ,
        name="user.username",
        handler=GrantHandler,
        title=message("Assign roles", context="users"),
        button=message("Assign roles", context="users"),
        next_path=ROLES_PATH,
        confirmation="added",
        command="grant create --user {userId} --project ID --role-key KEY",
    ),
    Action(
        path=f"{PAGE_PATH}/grants/{{grantId}}/remove",
        section=SECTION,
        operation=api.users.REMOVE_GRANT,
        title=message("Remove the roles", context="users"),
        button=message("Remove", context="console"),
        is_dangerous=True,
        next_path=ROLES_PATH,
        confirmation="removed",
        command="grant delete --user {userId} {grantId}",
    ),
)
