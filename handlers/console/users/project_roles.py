"""The console's pages that assign project roles to a user and remove them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from handlers.console.actions import Action, ActionHandler
from handlers.console.users.actions import MANAGED, ONE, SECTION, USER
from handlers.forms.fields import FormField
from handlers.forms.run_operation import Document
from idp.foundation.errors import PermissionDenied
from idp.foundation.i18n import message

GRANTS: Final = f"{MANAGED}/grants"
_PROJECTS: Final = "POST /management/v1/projects/_search"
_PROJECT: Final = message("Project", context="console")
_ROLES: Final = FormField(
    path="roleKeys",
    label=message("Roles", context="console"),
    hint=message("The keys of the project's roles, one in each line.", context="users"),
    kind="lines",
    direction="ltr",
    is_required=True,
)


class GrantHandler(ActionHandler):
    """Assigns roles of a project to a user. The project is chosen from a list, or entered by its
    id if the person may not list projects."""

    _projects: Sequence[Document] | None = None

    def fields(self) -> Sequence[FormField]:
        if self._projects is None:
            hint = message("The id of the project.", context="users")
            named = FormField(path="projectId", label=_PROJECT, hint=hint, is_required=True)
            return (named, _ROLES)
        options = [(one["id"], one["name"]) for one in self._projects]
        return (
            FormField(path="projectId", label=_PROJECT, kind="choice", options=options),
            _ROLES,
        )

    async def load(self, *ids: str) -> Document:
        try:
            answer = await self.run(_PROJECTS, document={})
            self._projects = answer.get("result", [])
        except PermissionDenied:
            self._projects = None
        return await super().load(*ids)


ACTIONS: Final = (
    Action(
        path=f"{ONE}/grants/new",
        section=SECTION,
        operation=f"POST {GRANTS}",
        loads=f"GET {USER}",
        name="user.preferredLoginName",
        handler=GrantHandler,
        title=message("Give roles", context="users"),
        button=message("Give the roles", context="users"),
        then=ONE,
        done="added",
        command="grant create --user {userId} --project ID --role-key KEY",
    ),
    Action(
        path=f"{ONE}/grants/{{grantId}}/remove",
        section=SECTION,
        operation=f"DELETE {GRANTS}/{{grantId}}",
        title=message("Take the roles away", context="users"),
        button=message("Remove", context="console"),
        is_dangerous=True,
        then=ONE,
        done="removed",
        command="grant delete --user {userId} {grantId}",
    ),
)
