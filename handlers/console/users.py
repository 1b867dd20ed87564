"""People: the list, one person with all that belongs to them, and making one."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Final

from handlers.console import cells, commands, user_fields
from handlers.console.actions import Action, ActionHandler, Secret, routes
from handlers.console.base import ConsoleHandler
from handlers.console.cells import Cell, fact, part
from handlers.console.fields import Field, Values, at
from handlers.console.lists import ListHandler, way
from handlers.console.running import BY_NAME, Document
from handlers.console.sections import CONSOLE
from idp.i18n import Message, message

SEARCH: Final = "POST /v2/users"
USER: Final = "/v2/users/{userId}"
MANAGED: Final = "/management/v1/users/{userId}"
PATH: Final = "/users"
ONE: Final = f"{PATH}/{{userId}}"
SECTION: Final = "users"

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
    """The people of the present organization."""

    section = SECTION
    operation = SEARCH
    title = message("Users", context="console")
    empty = message("There is nobody here yet.", context="users")
    search = (
        Field(path="text", label=message("Begins with", context="users"), means=("queries",)),
        Field(
            path="by",
            label=message("Search in", context="users"),
            kind="choice",
            options=tuple(_FOUND_BY.items()),
            default="displayName",
        ),
        Field(path="state", label=_STATE, kind="choice", options=_STATES, default=""),
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

    def row(self, found: Document) -> list[Cell]:
        return [
            cells.link(name_of(found), self.at(CONSOLE + ONE, found["userId"])),
            cells.state_cell(found["state"]),
            cells.code(found["username"]),
            cells.text(at(found, "human.email.email")),
        ]

    def actions(self) -> list[Cell]:
        new = message("New person", context="users")
        return [way(new, self.at(f"{CONSOLE}{PATH}/new"))] * self.may("user.write")


def name_of(user: Document) -> str:
    """What a user is called, as an answer of the API tells them."""
    return str(at(user, "human.profile.displayName") or at(user, "machine.name") or "")


_ACCOUNT: Final = message("Account", context="users")
_PASSWORD: Final = message("Password", context="users")
_ELSEWHERE: Final = message("The same person at another identity provider", context="users")
_CHANGE_AT_FIRST: Final = message("They choose another one at the first sign-in", context="users")


class NewUserHandler(ActionHandler):
    """A person with every part that the API knows."""

    def known(self, loaded: Document) -> Values:
        return {**super().known(loaded), "password.changeRequired": True}

    def document(self, values: Values) -> Document:
        document = super().document(values)
        document["email"] = user_fields.with_proof(document.get("email", {}))
        phone = document.pop("phone", {})
        if "phone" in phone:
            document["phone"] = user_fields.with_proof(phone)
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
    Field(
        path="username",
        label=_USER_NAME,
        hint=message("Left empty, it is the e-mail address.", context="users"),
        direction="ltr",
    ),
    Field(
        path="password.password",
        label=message("First password", context="users"),
        kind="password",
        autocomplete="new-password",
        means=("password",),
    ),
    Field(path="password.changeRequired", label=_CHANGE_AT_FIRST, kind="switch"),
    *user_fields.contact(
        "phone", "phone.", is_required=False, group=message("Phone number", context="users")
    ),
    *user_fields.address("address."),
    Field(
        path="userId",
        label=_ID,
        hint=message(
            "Left empty, one is made. Another system may know them by this.", context="users"
        ),
        direction="ltr",
        group=_ACCOUNT,
    ),
    Field(
        path="hashedPassword.hash",
        label=message("Hash of a password from elsewhere", context="users"),
        hint=message("bcrypt or Argon2, as it is encoded: $2b$… or $argon2id$…", context="users"),
        direction="ltr",
        group=_ACCOUNT,
        means=("hashedPassword",),
    ),
    Field(
        path="hashedPassword.changeRequired",
        label=_CHANGE_AT_FIRST,
        kind="switch",
        group=_ACCOUNT,
    ),
    Field(
        path="metadata",
        label=message("Metadata", context="users"),
        hint=message("One entry in each line: key=value", context="users"),
        kind="lines",
        group=_ACCOUNT,
    ),
    Field(
        path="idpLinks.idpId",
        label=message("Id of the provider", context="users"),
        direction="ltr",
        means=("idpLinks",),
        group=_ELSEWHERE,
    ),
    Field(
        path="idpLinks.userId",
        label=message("Id of the person there", context="users"),
        direction="ltr",
        group=_ELSEWHERE,
    ),
    Field(
        path="idpLinks.userName",
        label=message("Name of the person there", context="users"),
        group=_ELSEWHERE,
    ),
)


def _turn(
    name: str, title: Message, button: Message, done: str, intro: Message | None = None
) -> Action:
    """A change of a user's state."""
    return Action(
        path=f"{ONE}/{name}",
        section=SECTION,
        operation=f"POST {USER}/{name}",
        loads=f"GET {USER}",
        name="user.preferredLoginName",
        title=title,
        intro=intro,
        button=button,
        is_dangerous=intro is not None,
        then=ONE,
        done=done,
        command=f"user {name} {{userId}}",
    )


_ENDS: Final = message(
    "They are signed out everywhere, and all that was issued to them ends.", context="users"
)
_CODE: Final = Field(
    path="verificationCode",
    label=message("Code", context="users"),
    hint=message("It was sent there, or shown when the address was entered.", context="users"),
    direction="ltr",
    is_required=True,
)


def _verify(contact: str, title: Message) -> Action:
    return Action(
        path=f"{ONE}/verify-{contact}",
        section=SECTION,
        operation=f"POST {USER}/{contact}/verify",
        loads=f"GET {USER}",
        name="user.preferredLoginName",
        title=title,
        button=message("Confirm", context="users"),
        fields=(_CODE,),
        then=ONE,
        done="verified",
        command=f"user verify-{contact} {{userId}} --verification-code CODE",
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
            Secret("emailCode", message("Code for the e-mail address", context="users")),
            Secret("phoneCode", message("Code for the phone number", context="users")),
        ),
        then=ONE,
        done="created",
        command="user create --email EMAIL --given-name FIRST --family-name LAST",
    ),
    _turn(
        "deactivate",
        message("Deactivate the person", context="users"),
        message("Deactivate", context="console"),
        "deactivated",
        _ENDS,
    ),
    _turn(
        "reactivate",
        message("Reactivate the person", context="users"),
        message("Reactivate", context="console"),
        "reactivated",
    ),
    _turn(
        "lock",
        message("Lock the person out", context="users"),
        message("Lock out", context="users"),
        "locked",
        _ENDS,
    ),
    _turn(
        "unlock",
        message("Let the person in again", context="users"),
        message("Unlock", context="users"),
        "unlocked",
    ),
    _verify("email", message("Confirm the e-mail address", context="users")),
    _verify("phone", message("Confirm the phone number", context="users")),
)


class UserHandler(ConsoleHandler):
    """One person."""

    section = SECTION

    async def show(self, *ids: str) -> None:
        (id,) = ids
        user = (await self.run(f"GET {USER}", id))["user"]
        self.page(
            "console/show",
            title_text=name_of(user),
            state=cells.state(user["state"]),
            intro=None,
            facts=self._facts(user),
            actions=self._ways(id, user),
            parts_of=[part for part in [await self._grants(id)] if part],
            commands=commands.shown(
                self.service.config,
                BY_NAME[f"GET {USER}"],
                ids,
                None,
                self.org_id,
                "user show {userId}",
            ),
        )

    def _facts(self, user: Document) -> list[Cell]:
        human = user.get("human", {})
        email, phone = human.get("email"), human.get("phone")
        found = [
            fact(message("Login names", context="users"), cells.codes(user["loginNames"])),
            fact(_EMAIL, _contact(email, "email")),
            fact(message("Phone number", context="users"), _contact(phone, "phone")),
        ]
        found += [
            fact(field.label, cells.text(value))
            for field in user_fields.profile("human.profile.")
            if (value := at(user, field.path)) and not field.path.endswith(("Name", "gender"))
        ]
        changed = cells.instant(human.get("passwordChanged"))
        return [
            *found,
            fact(message("Password set", context="users"), changed),
            fact(_ID, cells.code(user["userId"])),
            fact(
                message("Created", context="console"),
                cells.instant(at(user, "details.creationDate")),
            ),
        ]

    def _ways(self, id: str, user: Document) -> list[Cell]:
        if not self.may("user.write"):
            return []
        labels = {
            "verify-email": message("Confirm the e-mail address", context="users"),
            "verify-phone": message("Confirm the phone number", context="users"),
            "deactivate": message("Deactivate", context="console"),
            "reactivate": message("Reactivate", context="console"),
            "lock": message("Lock out", context="users"),
            "unlock": message("Unlock", context="users"),
        }
        return [
            way(labels[to], self.at(f"{CONSOLE}{ONE}/{to}", id), is_dangerous=to in _DANGEROUS)
            for to in _possible(user)
        ]

    async def _grants(self, id: str) -> Document | None:
        if not self.may("user.grant.read"):
            return None
        found = (await self.run(f"GET {MANAGED}/grants", id)).get("result", [])
        return part(
            message("Roles in projects", context="users"),
            [message("Project", context="console"), message("Roles", context="console")],
            [
                [cells.code(one["projectId"]), cells.codes(one.get("roleKeys", []))]
                for one in found
            ],
            message("They have no role in any project.", context="users"),
        )


_DANGEROUS: Final = ("deactivate", "lock")
_TURNS: Final = {
    "ACTIVE": ("lock", "deactivate"),
    "INACTIVE": ("reactivate",),
    "LOCKED": ("unlock", "deactivate"),
}


def _possible(user: Document) -> Sequence[str]:
    """What can be done with somebody in this state."""
    unproven = [
        f"verify-{contact}"
        for contact in ("email", "phone")
        if (known := at(user, f"human.{contact}")) and not known.get("isVerified")
    ]
    return [*unproven, *_TURNS[user["state"].rpartition("_")[2]]]


def _contact(known: Document | None, name: str) -> Cell:
    if known is None:
        return cells.text(None)
    if known.get("isVerified"):
        return cells.text(known[name])
    return cells.text(message("%(it)s (not confirmed)", context="users", it=known[name]))


ROUTES = [
    *routes(ACTIONS),
    (CONSOLE + PATH, UsersHandler),
    (f"{CONSOLE}{PATH}/([^/]+)", UserHandler),
]
