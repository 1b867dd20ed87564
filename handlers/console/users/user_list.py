"""The console's list of persons, and the page that creates one."""

from __future__ import annotations

import base64
from typing import Final

from handlers.console.actions import Action, ActionHandler, DisplayedOnce, routes
from handlers.console.lists import ListHandler
from handlers.console.sections import CONSOLE
from handlers.console.users import actions as user_actions
from handlers.console.users import project_roles
from handlers.console.users.actions import ONE, SECTION
from handlers.console.users.page import UserHandler, name_of
from handlers.forms import cells, user_fields
from handlers.forms.cells import Cell, action_link
from handlers.forms.fields import FormField, Values, at
from handlers.forms.run_operation import Document
from idp.foundation.i18n import message

SEARCH: Final = "POST /v2/users"
PATH: Final = "/users"

_NAME: Final = message("Name", context="console")
_STATE: Final = message("State", context="console")
_ID: Final = message("Id", context="console")
_EMAIL: Final = message("E-mail address", context="users")
_USER_NAME: Final = message("User name", context="users")

_FOUND_BY: Final = {
    "displayName": message("Name", context="console"),
    "emailAddress": _EMAIL,
    "userName": _USER_NAME,
}
_QUERIES: Final = {
    "displayName": "displayNameQuery",
    "emailAddress": "emailQuery",
    "userName": "userNameQuery",
}
_STATES: Final = (
    ("", message("any", context="console")),
    ("USER_STATE_ACTIVE", message("active", context="console")),
    ("USER_STATE_INACTIVE", message("deactivated", context="console")),
    ("USER_STATE_LOCKED", message("locked", context="console")),
)


class UsersHandler(ListHandler):
    """Lists the persons of the current organization."""

    section = SECTION
    operation = SEARCH
    title = message("Users", context="console")
    empty = message("There is nobody here yet.", context="users")
    search = (
        FormField(path="text", label=message("Begins with", context="users"), means=("queries",)),
        FormField(
            path="by",
            label=message("Search in", context="users"),
            kind="choice",
            options=tuple(_FOUND_BY.items()),
            default="displayName",
        ),
        FormField(path="state", label=_STATE, kind="choice", options=_STATES, default=""),
    )
    columns = (_NAME, _STATE, _USER_NAME, _EMAIL)
    command = "user list"

    def queries(self, values: Values) -> list[Document]:
        queries: list[Document] = [{"typeQuery": {"type": "TYPE_HUMAN"}}]
        if values["text"]:
            by = values["by"] if values["by"] in _QUERIES else "displayName"
            how = {"method": "TEXT_QUERY_METHOD_STARTS_WITH_IGNORE_CASE"}
            queries.append({_QUERIES[by]: {by: values["text"], **how}})
        if values["state"]:
            queries.append({"stateQuery": {"state": values["state"]}})
        return queries

    def row(self, user: Document) -> list[Cell]:
        return [
            cells.link(name_of(user), self.at(CONSOLE + ONE, user["userId"])),
            cells.state_cell(user["state"]),
            cells.code(user["username"]),
            cells.text(at(user, "human.email.email")),
        ]

    def actions(self) -> list[Cell]:
        new = message("New person", context="users")
        return (
            [action_link(new, self.at(f"{CONSOLE}{PATH}/new"))] if self.may("user.write") else []
        )


_ACCOUNT: Final = message("Account", context="users")
_PASSWORD: Final = message("Password", context="users")
_ELSEWHERE: Final = message("The same person at another identity provider", context="users")
_CHANGE_AT_FIRST: Final = message("They choose another one at the first sign-in", context="users")


class NewUserHandler(ActionHandler):
    """Creates a person. The form has a field for every value that the API accepts."""

    def request_body(self, values: Values) -> Document:
        document = super().request_body(values)
        document["email"] = user_fields.with_verification(document.get("email", {}))
        phone = document.pop("phone", {})
        if "phone" in phone:
            document["phone"] = user_fields.with_verification(phone)
        # The switch alone would send an object without a password, which the API refuses.
        for name, needed in (("password", "password"), ("hashedPassword", "hash")):
            if needed not in document.get(name, {}):
                document.pop(name, None)
        if "idpLinks" in document:
            document["idpLinks"] = [document["idpLinks"]]
        if "metadata" in document:
            document["metadata"] = [_entry(line) for line in document["metadata"]]
        return document


def _entry(line: str) -> Document:
    key, _, value = line.partition("=")
    return {"key": key.strip(), "value": base64.b64encode(value.strip().encode()).decode()}


_NEW: Final = (
    *user_fields.profile("profile."),
    *user_fields.contact("email", "email.", is_required=True),
    FormField(
        path="username",
        label=_USER_NAME,
        hint=message("Left empty, it is the e-mail address.", context="users"),
        direction="ltr",
    ),
    FormField(
        path="password.password",
        label=message("First password", context="users"),
        kind="password",
        autocomplete="new-password",
        means=("password",),
    ),
    FormField(path="password.changeRequired", label=_CHANGE_AT_FIRST, kind="switch", default=True),
    *user_fields.contact(
        "phone", "phone.", is_required=False, group=message("Phone number", context="users")
    ),
    *user_fields.address("address."),
    FormField(
        path="userId",
        label=_ID,
        hint=message(
            "Left empty, one is made. Another system may know them by this.", context="users"
        ),
        direction="ltr",
        group=_ACCOUNT,
    ),
    FormField(
        path="hashedPassword.hash",
        label=message("Hash of a password from elsewhere", context="users"),
        hint=message(
            "As its system wrote it: $2b$…, $argon2id$…, $pbkdf2-sha256$… and many others",
            context="users",
        ),
        direction="ltr",
        group=_ACCOUNT,
        means=("hashedPassword",),
    ),
    FormField(
        path="hashedPassword.changeRequired",
        label=_CHANGE_AT_FIRST,
        kind="switch",
        group=_ACCOUNT,
    ),
    FormField(
        path="metadata",
        label=message("Metadata", context="users"),
        hint=message("One entry in each line: key=value", context="users"),
        kind="lines",
        group=_ACCOUNT,
    ),
    FormField(
        path="idpLinks.idpId",
        label=message("Id of the provider", context="users"),
        direction="ltr",
        means=("idpLinks",),
        group=_ELSEWHERE,
    ),
    FormField(
        path="idpLinks.userId",
        label=message("Id of the person there", context="users"),
        direction="ltr",
        group=_ELSEWHERE,
    ),
    FormField(
        path="idpLinks.userName",
        label=message("Name of the person there", context="users"),
        group=_ELSEWHERE,
    ),
)


ACTIONS: Final = (
    Action(
        path=f"{PATH}/new",
        section=SECTION,
        operation="POST /v2/users/human",
        handler=NewUserHandler,
        title=message("New person", context="users"),
        button=message("Create the person", context="users"),
        fields=_NEW,
        shows=(
            DisplayedOnce("emailCode", message("Code for the e-mail address", context="users")),
            DisplayedOnce("phoneCode", message("Code for the phone number", context="users")),
        ),
        then=ONE,
        done="created",
        command="user create --email EMAIL --given-name FIRST --family-name LAST",
    ),
    *user_actions.KNOWN,
    *user_actions.LET_IN,
    *project_roles.ACTIONS,
)


ROUTES = [
    *routes(ACTIONS),
    (CONSOLE + PATH, UsersHandler),
    (f"{CONSOLE}{PATH}/([^/]+)", UserHandler),
]
