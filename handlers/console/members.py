"""The console's pages of members: the users who manage an organization or the installation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from msgspec import structs

from handlers.console import roles
from handlers.console.actions import Action, ActionHandler, routes
from handlers.console.base import ConsoleHandler
from handlers.console.lists import ListHandler
from handlers.console.sections import CONSOLE
from handlers.console.sub_lists import fetch_page
from handlers.forms import cells
from handlers.forms.cells import Cell, action_link, sub_list
from handlers.forms.fields import FormField, Values
from handlers.forms.run_operation import Document
from idp import api
from idp.api.operation import Operation
from idp.foundation.errors import FieldProblem, InvalidArgument, NotFound
from idp.foundation.i18n import Message, message

ORGANIZATION: Final = "/organizations/{orgId}"
ADMINISTRATORS: Final = "/administrators"

_ROLES: Final = FormField(
    path="roles",
    label=message("Roles", context="console"),
    kind="choices",
    options=roles.OF_ORGANIZATION,
)
_USER: Final = FormField(
    path="userId",
    label=message("Username or email", context="members"),
    hint=message("You can enter an email if only one user has it.", context="members"),
    direction="ltr",
    is_required=True,
)


class MemberHandler(ActionHandler):
    """Adds, changes or removes a member of an organization, which the address names, or of the
    installation."""

    @property
    def _is_of_instance(self) -> bool:
        return self.action.path.startswith(ADMINISTRATORS)

    def fields(self) -> Sequence[FormField]:
        if not self._is_of_instance:
            return self.action.fields
        instance_roles = structs.replace(_ROLES, options=roles.OF_INSTANCE)
        return [instance_roles if field is _ROLES else field for field in self.action.fields]

    async def load(self, *ids: str) -> Document:
        """Returns the member that the address names, or an empty document for a new one. Raises
        NotFound."""
        user_id = self._by_name(ids).get("userId")
        if user_id is None:
            return {}
        queries = [{"userIdQuery": {"userId": user_id}}]
        part = api.instance if self._is_of_instance else api.organizations
        answer = await self.run(part.SEARCH_MEMBERS, document={"queries": queries})
        if not answer.get("result"):
            raise NotFound("there is no such member")
        member: Document = answer["result"][0]
        return member

    async def resolved(self, values: Values) -> Values:
        """Returns the values with the entered login name replaced by the user's id. Raises
        InvalidArgument."""
        if not values.get("userId"):
            return values
        query = {"loginNameQuery": {"loginName": values["userId"]}}
        # An administrator of the installation may belong to any organization.
        org_id = None if self._is_of_instance else self.org_id
        answer = await self.run(api.users.SEARCH, document={"queries": [query]}, org_id=org_id)
        if not answer.get("result"):
            raise InvalidArgument([FieldProblem("user.not_found", "userId", "names no user")])
        return {**values, "userId": answer["result"][0]["userId"]}


_ADD: Final = message("Add a member", context="members")
_CHANGE: Final = message("Change the roles", context="members")
_REMOVE: Final = message("Remove member", context="members")


def _actions(
    path: str, operations: tuple[Operation, ...], section: str, option: str
) -> tuple[Action, ...]:
    """Returns the actions for the members that are listed at `path`, an address of the console.
    The operations add, change and remove a member."""
    adding, changing, removing = operations
    members_path = path if path == ADMINISTRATORS else f"{path}/members"
    common: dict[str, Any] = {
        "section": section,
        "handler": MemberHandler,
        "next_path": path,
        "name": "displayName",
    }
    return (
        Action(
            path=f"{members_path}/new",
            operation=adding,
            title=_ADD,
            button=message("Add", context="console"),
            fields=(_USER, _ROLES),
            confirmation="added",
            command=f"member add{option} --user ID --role ROLE",
            **common,
        ),
        Action(
            path=f"{members_path}/{{userId}}/edit",
            operation=changing,
            title=_CHANGE,
            button=message("Save", context="console"),
            fields=(_ROLES,),
            confirmation="saved",
            command=f"member set-roles{option} {{userId}} --role ROLE",
            **common,
        ),
        Action(
            path=f"{members_path}/{{userId}}/remove",
            operation=removing,
            title=_REMOVE,
            button=message("Remove", context="console"),
            is_dangerous=True,
            confirmation="removed",
            command=f"member remove{option} {{userId}}",
            **common,
        ),
    )


ACTIONS: Final = (
    *_actions(
        ORGANIZATION,
        (
            api.organizations.ADD_MEMBER,
            api.organizations.CHANGE_MEMBER,
            api.organizations.REMOVE_MEMBER,
        ),
        "organizations",
        "",
    ),
    *_actions(
        ADMINISTRATORS,
        (api.instance.ADD_MEMBER, api.instance.CHANGE_MEMBER, api.instance.REMOVE_MEMBER),
        "administrators",
        " --instance",
    ),
)

_COLUMNS: Final = (
    message("Name", context="console"),
    message("Username", context="console"),
    message("Roles", context="console"),
)
_CHANGE_COLUMN: Final = message("Change", context="members")


def _row(
    page: ConsoleHandler, member: Document, path: str, *ids: str, may_change: bool
) -> list[Cell]:
    """Returns a member's row, with links to change and remove it where the person may."""
    user_id = member["userId"]
    row = [
        cells.text(member.get("displayName")),
        cells.code(member["preferredLoginName"]),
        cells.codes(member["roles"]),
    ]
    if may_change:
        edit = page.url_of(f"{CONSOLE}{path}/{{userId}}/edit", *ids, user_id)
        remove = page.url_of(f"{CONSOLE}{path}/{{userId}}/remove", *ids, user_id)
        row.append(cells.link(_CHANGE_COLUMN, edit))
        row.append(cells.link(message("Remove", context="console"), remove))
    return row


def _columns(*, may_change: bool) -> list[Message]:
    return (
        [*_COLUMNS, _CHANGE_COLUMN, message("Remove", context="console")]
        if may_change
        else list(_COLUMNS)
    )


async def of_organization(page: ConsoleHandler, org_id: str) -> Document:
    """Returns the template value of an organization's members, a sub-list of its page."""
    list_page = await fetch_page(page, "members", api.organizations.SEARCH_MEMBERS)
    may_change = page.may("org.member.write")
    path = f"{ORGANIZATION}/members"
    url = page.url_of(f"{CONSOLE}{path}/new", org_id)
    return sub_list(
        message("Members", context="members"),
        _columns(may_change=may_change),
        [_row(page, member, path, org_id, may_change=may_change) for member in list_page.records],
        message(
            "No members yet. Only the installation's administrators manage it.", context="members"
        ),
        [action_link(_ADD, url)] if may_change else [],
        list_page,
    )


class AdministratorsHandler(ListHandler):
    """Lists the members who manage the whole installation."""

    section = "administrators"
    operation = api.instance.SEARCH_MEMBERS
    icon = "user-cog"
    title = message("Administrators", context="members")
    intro = message("Users who manage the whole installation.", context="members")
    command = "member list --instance"

    async def show(self, *ids: str) -> None:
        self.columns = _columns(may_change=self.may("iam.member.write"))
        await super().show(*ids)

    def row(self, member: Document) -> list[Cell]:
        return _row(self, member, ADMINISTRATORS, may_change=self.may("iam.member.write"))

    def actions(self) -> list[Cell]:
        link = action_link(_ADD, f"{CONSOLE}{ADMINISTRATORS}/new")
        return [link] if self.may("iam.member.write") else []


ROUTES = [*routes(ACTIONS), (CONSOLE + ADMINISTRATORS, AdministratorsHandler)]
