"""The console's pages of members: who manages an organization or the installation."""

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
from idp.foundation.errors import FieldProblem, InvalidArgument, NotFound
from idp.foundation.i18n import Message, message

OF_ORGANIZATION: Final = "/management/v1/orgs/me/members"
OF_INSTANCE: Final = "/admin/v1/members"
ORGANIZATION: Final = "/organizations/{orgId}"
ADMINISTRATORS: Final = "/administrators"
_FIND_USER: Final = "POST /v2/users"

_ROLES: Final = FormField(
    path="roles",
    label=message("Roles", context="console"),
    kind="choices",
    options=roles.OF_ORGANIZATION,
)
_WHO: Final = FormField(
    path="userId",
    label=message("Login name", context="members"),
    hint=message("Or the e-mail address, if it is theirs alone.", context="members"),
    direction="ltr",
    is_required=True,
)


class MemberHandler(ActionHandler):
    """Adds, changes or removes a member of an organization, which the address names, or of the
    installation."""

    @property
    def _members(self) -> str:
        is_of_all = self.action.path.startswith(ADMINISTRATORS)
        return OF_INSTANCE if is_of_all else OF_ORGANIZATION

    def fields(self) -> Sequence[FormField]:
        if self._members == OF_ORGANIZATION:
            return self.action.fields
        every = structs.replace(_ROLES, options=roles.OF_INSTANCE)
        return [every if field is _ROLES else field for field in self.action.fields]

    async def load(self, *ids: str) -> Document:
        """Returns the member that the address names, or an empty document for a new one. Raises
        NotFound."""
        user_id = self._by_name(ids).get("userId")
        if user_id is None:
            return {}
        queries = [{"userIdQuery": {"userId": user_id}}]
        answer = await self.run(f"POST {self._members}/_search", document={"queries": queries})
        if not answer.get("result"):
            raise NotFound("there is no such member")
        member: Document = answer["result"][0]
        return member

    async def resolved(self, values: Values) -> Values:
        """Returns the values with the entered login name replaced by the user's id. Raises
        InvalidArgument."""
        if not values.get("userId"):
            return values
        means = {"loginNameQuery": {"loginName": values["userId"]}}
        # An administrator of the installation may belong to any organization.
        org_id = self.org_id if self._members == OF_ORGANIZATION else None
        answer = await self.run(_FIND_USER, document={"queries": [means]}, org_id=org_id)
        if not answer.get("result"):
            raise InvalidArgument([FieldProblem("user.not_found", "userId", "is nobody")])
        return {**values, "userId": answer["result"][0]["userId"]}


_ADD: Final = message("Add a member", context="members")
_CHANGE: Final = message("Change the roles", context="members")
_REMOVE: Final = message("Let the member manage no more", context="members")


def _actions(at: str, members: str, section: str, option: str) -> tuple[Action, ...]:
    """Returns the actions for the members at an address of the console."""
    base = at if at == ADMINISTRATORS else f"{at}/members"
    common: dict[str, Any] = {
        "section": section,
        "handler": MemberHandler,
        "then": at,
        "name": "displayName",
    }
    return (
        Action(
            path=f"{base}/new",
            operation=f"POST {members}",
            title=_ADD,
            button=message("Add", context="console"),
            fields=(_WHO, _ROLES),
            done="added",
            command=f"member add{option} --user ID --role ROLE",
            **common,
        ),
        Action(
            path=f"{base}/{{userId}}/edit",
            operation=f"PUT {members}/{{userId}}",
            title=_CHANGE,
            button=message("Save", context="console"),
            fields=(_ROLES,),
            done="saved",
            command=f"member set-roles{option} {{userId}} --role ROLE",
            **common,
        ),
        Action(
            path=f"{base}/{{userId}}/remove",
            operation=f"DELETE {members}/{{userId}}",
            title=_REMOVE,
            button=message("Remove", context="console"),
            is_dangerous=True,
            done="removed",
            command=f"member remove{option} {{userId}}",
            **common,
        ),
    )


ACTIONS: Final = (
    *_actions(ORGANIZATION, OF_ORGANIZATION, "organizations", ""),
    *_actions(ADMINISTRATORS, OF_INSTANCE, "administrators", " --instance"),
)

_COLUMNS: Final = (
    message("Name", context="console"),
    message("Login name", context="members"),
    message("Roles", context="console"),
)
_DO: Final = message("Change", context="members")


def _row(page: ConsoleHandler, member: Document, base: str, *ids: str, may: bool) -> list[Cell]:
    """Returns a member's row, with links to change and remove it where the person may."""
    id = member["userId"]
    row = [
        cells.text(member.get("displayName")),
        cells.code(member["preferredLoginName"]),
        cells.codes(member["roles"]),
    ]
    if may:
        edit = page.at(f"{CONSOLE}{base}/{{userId}}/edit", *ids, id)
        remove = page.at(f"{CONSOLE}{base}/{{userId}}/remove", *ids, id)
        row.append(cells.link(_DO, edit))
        row.append(cells.link(message("Remove", context="console"), remove))
    return row


def _columns(*, may: bool) -> list[Message]:
    return [*_COLUMNS, _DO, message("Remove", context="console")] if may else list(_COLUMNS)


async def of_organization(page: ConsoleHandler, org_id: str) -> Document:
    """Returns the template value of an organization's members, a sub-list of its page."""
    list_page = await fetch_page(page, "members", f"POST {OF_ORGANIZATION}/_search")
    may = page.may("org.member.write")
    base = f"{ORGANIZATION}/members"
    new = page.at(f"{CONSOLE}{base}/new", org_id)
    return sub_list(
        message("Members", context="members"),
        _columns(may=may),
        [_row(page, one, base, org_id, may=may) for one in list_page.records],
        message("Nobody manages it but those who manage everything.", context="members"),
        [action_link(_ADD, new)] if may else [],
        list_page,
    )


class AdministratorsHandler(ListHandler):
    """Lists the members who manage the whole installation."""

    section = "administrators"
    operation = f"POST {OF_INSTANCE}/_search"
    title = message("Administrators", context="members")
    intro = message("Whoever manages the whole installation.", context="members")
    command = "member list --instance"

    async def show(self, *ids: str) -> None:
        self.columns = _columns(may=self.may("iam.member.write"))
        await super().show(*ids)

    def row(self, member: Document) -> list[Cell]:
        return _row(self, member, ADMINISTRATORS, may=self.may("iam.member.write"))

    def actions(self) -> list[Cell]:
        new = action_link(_ADD, f"{CONSOLE}{ADMINISTRATORS}/new")
        return [new] if self.may("iam.member.write") else []


ROUTES = [*routes(ACTIONS), (CONSOLE + ADMINISTRATORS, AdministratorsHandler)]
