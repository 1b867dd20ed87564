"""The console's list of persons, and the page that creates one."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import ClassVar, Final

from msgspec import structs

from handlers.console.actions import Action, DisplayedOnce, FirstPasswordHandler, routes
from handlers.console.lists import ListHandler
from handlers.console.sections import CONSOLE
from handlers.console.tabs import tab_routes
from handlers.console.users import actions as user_actions
from handlers.console.users import bulk, csv_file, filters, project_roles
from handlers.console.users.actions import PAGE_PATH, SECTION
from handlers.console.users.page import UserHandler, name_of
from handlers.forms import cells, fields, user_fields
from handlers.forms.cells import Cell, action_link
from handlers.forms.fields import FormField, Values, value_at
from handlers.forms.run_operation import Document
from idp import api
from idp.foundation.i18n import message
from idp.usage import active_users

PATH: Final = "/users"

_NAME: Final = message("Name", context="console")
_STATE: Final = message("State", context="console")
_ID: Final = message("ID", context="console")
_EMAIL: Final = message("Email", context="users")
_LAST_SIGN_IN: Final = message("Last sign-in", context="users")
_CREATED: Final = message("Created", context="console")
_USER_NAME: Final = message("Username", context="users")


class UsersHandler(ListHandler):
    """Lists the persons of the current organization."""

    section = SECTION
    operation = api.users.SEARCH
    title = message("Users", context="console")
    icon = "users"
    empty = message("No users yet.", context="users")
    search = filters.FIELDS
    columns = (_NAME, _STATE, _USER_NAME, _EMAIL, _LAST_SIGN_IN, _CREATED)
    orders: ClassVar = {0: "USER_FIELD_NAME_DISPLAY_NAME", 2: "USER_FIELD_NAME_USER_NAME"}
    command = "user list"

    def queries(self, values: Values) -> list[Document]:
        return filters.queries(values)

    def row(self, user: Document) -> list[Cell]:
        return [
            cells.link(name_of(user), self.url_of(CONSOLE + PAGE_PATH, user["userId"])),
            cells.state_cell(user["state"]),
            cells.code(user["username"]),
            cells.text(value_at(user, "human.email.email")),
            cells.moment_ago(self._last_sign_ins.get(user["userId"])),
            cells.instant(value_at(user, "details.creationDate")),
        ]

    async def load_related(self, records: Sequence[Document]) -> None:
        user_ids = [user["userId"] for user in records]
        self._last_sign_ins = await active_users.last_sign_ins(self.service, user_ids)

    def selection(self, records: Sequence[Document]) -> dict[str, object] | None:
        choices = bulk.choices(self)
        if not choices:
            return None
        return {
            "action": self.url_of(CONSOLE + bulk.PATH),
            "hidden": self.token_input(CONSOLE + bulk.PATH),
            "choices": choices,
            "rows": [(user["userId"], name_of(user)) for user in records],
        }

    def actions(self) -> list[Cell]:
        new = message("New user", context="users")
        values = fields.submitted_values(self.search, self.query_params())
        pairs = {name: value for name, value in values.items() if value}
        file = action_link(
            message("Download as CSV", context="users"), self.url_of(csv_file.PATH, **pairs)
        )
        if not self.may("user.write"):
            return [file]
        return [action_link(new, self.url_of(f"{CONSOLE}{PATH}/new")), file]


_ACCOUNT: Final = message("Account", context="users")
_PASSWORD: Final = message("Password", context="users")
_PROVIDER_ACCOUNT: Final = message(
    "The user's account at another identity provider", context="users"
)
_INVITATION: Final = message(
    "Unless you set a password below, we'll email the user an invitation to choose one.",
    context="users",
)
_OWN_PASSWORD: Final = message("Set a password instead", context="users")
_CHANGE_REQUIRED: Final = message("The user must change it at the first sign-in", context="users")


class NewUserHandler(FirstPasswordHandler):
    """Creates a person. The form has a field for every value that the API accepts."""

    def request_body(self, values: Values) -> Document:
        document = super().request_body(values)
        document["email"] = user_fields.with_verification(document.get("email", {}))
        phone = document.pop("phone", {})
        if "phone" in phone:
            document["phone"] = user_fields.with_verification(phone)
        # The switch alone would send an object without a password, which the API refuses.
        for name, member in (("password", "password"), ("hashedPassword", "hash")):
            if member not in document.get(name, {}):
                document.pop(name, None)
        if "idpLinks" in document:
            document["idpLinks"] = [document["idpLinks"]]
        if "metadata" in document:
            document["metadata"] = [_entry(line) for line in document["metadata"]]
        return document


def _entry(line: str) -> Document:
    key, _, value = line.partition("=")
    return {"key": key.strip(), "value": base64.b64encode(value.strip().encode()).decode()}


_EMAIL_FIELD, _VERIFICATION_FIELD = user_fields.contact("email", "email.", is_required=True)
_NEW_USER_FIELDS: Final = (
    *user_fields.profile("profile."),
    structs.replace(_EMAIL_FIELD, hint=_INVITATION),
    FormField(
        path="username",
        label=_USER_NAME,
        hint=message("If empty, the email is used.", context="users"),
        kind="name",
        direction="ltr",
    ),
    FormField(
        path="password.password",
        label=message("Initial password", context="users"),
        kind="password",
        autocomplete="new-password",
        related_paths=("password",),
        group=_OWN_PASSWORD,
    ),
    FormField(
        path="password.changeRequired",
        label=_CHANGE_REQUIRED,
        kind="switch",
        default=True,
        group=_OWN_PASSWORD,
    ),
    structs.replace(_VERIFICATION_FIELD, group=_OWN_PASSWORD),
    *user_fields.contact(
        "phone", "phone.", is_required=False, group=message("Phone number", context="users")
    ),
    *user_fields.address("address."),
    FormField(
        path="userId",
        label=_ID,
        hint=message(
            "If empty, an ID is generated. Enter one if another system already uses "
            "it for this user.",
            context="users",
        ),
        direction="ltr",
        group=_ACCOUNT,
    ),
    FormField(
        path="hashedPassword.hash",
        label=message("Password hash from another system", context="users"),
        hint=message(
            "In that system's format: $2b$…, $argon2id$…, $pbkdf2-sha256$… and many others",
            context="users",
        ),
        direction="ltr",
        group=_ACCOUNT,
        related_paths=("hashedPassword",),
    ),
    FormField(
        path="hashedPassword.changeRequired", label=_CHANGE_REQUIRED, kind="switch", group=_ACCOUNT
    ),
    FormField(
        path="metadata",
        label=message("Metadata", context="users"),
        hint=message("One entry per line: key=value", context="users"),
        kind="lines",
        group=_ACCOUNT,
    ),
    FormField(
        path="idpLinks.idpId",
        label=message("ID of the provider", context="users"),
        direction="ltr",
        related_paths=("idpLinks",),
        group=_PROVIDER_ACCOUNT,
    ),
    FormField(
        path="idpLinks.userId",
        label=message("User ID at the provider", context="users"),
        direction="ltr",
        group=_PROVIDER_ACCOUNT,
    ),
    FormField(
        path="idpLinks.userName",
        label=message("Username at the provider", context="users"),
        group=_PROVIDER_ACCOUNT,
    ),
)


ACTIONS: Final = (
    Action(
        path=f"{PATH}/new",
        section=SECTION,
        operation=api.users.CREATE,
        handler=NewUserHandler,
        title=message("New user", context="users"),
        button=message("Create the user", context="users"),
        fields=_NEW_USER_FIELDS,
        shows=(
            DisplayedOnce("emailCode", message("Code for the email", context="users")),
            DisplayedOnce("phoneCode", message("Code for the phone number", context="users")),
        ),
        next_path=PAGE_PATH,
        confirmation="created",
        command="user create --email EMAIL --given-name FIRST --family-name LAST",
    ),
    *user_actions.PROFILE_ACTIONS,
    *user_actions.ACCESS_ACTIONS,
    *project_roles.ACTIONS,
)


ROUTES = [
    *routes(ACTIONS),
    (CONSOLE + PATH, UsersHandler),
    *bulk.ROUTES,
    *csv_file.ROUTES,
    *tab_routes(f"{CONSOLE}{PATH}/([^/]+)", UserHandler),
]
