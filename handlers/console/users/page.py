"""The console's page of a person: profile, sessions, passkeys, roles, metadata and actions."""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import Awaitable, Sequence
from typing import Final

from handlers.console import commands
from handlers.console.base import ConsoleHandler
from handlers.console.sections import CONSOLE
from handlers.console.sub_lists import fetch_page
from handlers.console.users.actions import MANAGED, ONE, SECTION, USER
from handlers.forms import cells, user_fields
from handlers.forms.cells import Cell, action_link, fact, sub_list
from handlers.forms.fields import at
from handlers.forms.run_operation import BY_NAME, Document
from idp.foundation.i18n import Message, message

_ID: Final = message("Id", context="console")
_CONFIRMED_BY: Final = message("Confirmed by", context="users")
_SOURCES: Final = {
    "organization": message("the organization", context="users"),
    "mailbox": message("a code that was sent", context="users"),
    "domain": message("the organization's domain", context="users"),
    "instance": message("the installation", context="users"),
}
_CONTACTS: Final = {  # verified, and not
    "email": (
        message("E-mail address", context="users"),
        message("E-mail address (not confirmed)", context="users"),
    ),
    "phone": (
        message("Phone number", context="users"),
        message("Phone number (not confirmed)", context="users"),
    ),
}
_REMOVE: Final = message("Remove", context="console")
_SHOWN_CHARACTERS: Final = 200
_DANGEROUS: Final = ("deactivate", "lock", "delete", "remove-phone")

_LABELS: Final = {
    "edit": message("Change", context="users"),
    "email": message("Change the e-mail address", context="users"),
    "verify-email": message("Confirm the e-mail address", context="users"),
    "resend-email": message("Another code for the e-mail address", context="users"),
    "phone": message("Change the phone number", context="users"),
    "verify-phone": message("Confirm the phone number", context="users"),
    "resend-phone": message("Another code for the phone number", context="users"),
    "remove-phone": message("Remove the phone number", context="users"),
    "password": message("Set a password", context="users"),
    "password-reset": message("Let them choose a new password", context="users"),
    "deactivate": message("Deactivate", context="console"),
    "reactivate": message("Reactivate", context="console"),
    "lock": message("Lock out", context="users"),
    "unlock": message("Unlock", context="users"),
    "delete": message("Delete", context="console"),
}
_TURNS: Final = {
    "ACTIVE": ("lock", "deactivate"),
    "INACTIVE": ("reactivate",),
    "LOCKED": ("unlock",),
}


class UserHandler(ConsoleHandler):
    """Shows one person with their profile, sessions, sign-in methods, roles and metadata."""

    section = SECTION

    async def show(self, *ids: str) -> None:
        (id,) = ids
        user = (await self.run(f"GET {USER}", id))["user"]
        self.page(
            "console/show",
            title_text=name_of(user),
            state=cells.state(user["state"]),
            intro=None,
            facts=_facts(user),
            actions=self._action_links(id, user),
            parts_of=await asyncio.gather(*self._parts(id)),
            commands=commands.rendered(
                self.service.config,
                BY_NAME[f"GET {USER}"],
                ids,
                None,
                self.org_id,
                "user show {userId}",
            ),
        )

    def _parts(self, id: str) -> list[Awaitable[Document]]:
        grants = [self._grants(id)] if self.may("user.grant.read") else []
        known = [self._memberships(id), self._metadata(id)]
        return [self._sessions(id), self._passkeys(id), self._factors(id), *grants, *known]

    def _action_links(self, id: str, user: Document) -> list[Cell]:
        if not self.may("user.write"):
            return []
        return [
            action_link(
                _LABELS[to], self.at(f"{CONSOLE}{ONE}/{to}", id), is_dangerous=to in _DANGEROUS
            )
            for to in _possible(user)
        ]

    async def _sessions(self, id: str) -> Document:
        list_page = await fetch_page(
            self, "sessions", f"POST {USER}/sessions/_search", id, limit=100
        )
        may = self.may("user.write")
        # The search finds ended sessions too.
        live = [one for one in list_page.records if one["state"].endswith("_ACTIVE")]
        end = message("End", context="users")
        path = f"{CONSOLE}{ONE}/sessions/{{sessionId}}/end"
        return sub_list(
            message("Sessions", context="users"),
            [
                message("Signed in", context="users"),
                message("Last used", context="users"),
                *([end] if may else []),
            ],
            [
                [
                    cells.instant(one["authenticationDate"]),
                    cells.instant(one["lastUsedDate"]),
                    *([cells.link(end, self.at(path, id, one["id"]))] if may else []),
                ]
                for one in live
            ],
            message("They are signed in nowhere.", context="users"),
            [
                action_link(
                    message("Sign them out everywhere", context="users"),
                    self.at(f"{CONSOLE}{ONE}/end-sessions", id),
                    is_dangerous=True,
                )
            ]
            if may and bool(live or list_page.next_url)
            else [],
            pages=list_page,
        )

    async def _factors(self, id: str) -> Document:
        answer = await self.run(f"GET {USER}/authentication_methods", id)
        may, rows = self.may("user.write"), []
        if app := answer.get("totp"):
            link = cells.link(_REMOVE, self.at(f"{CONSOLE}{ONE}/totp/remove", id))
            what = cells.text(message("Authenticator app", context="factor"))
            about = cells.text(app.get("name"))
            rows.append(
                [what, about, cells.instant(app["creationDate"]), *([link] if may else [])]
            )
        if codes := answer.get("recoveryCodes"):
            what = cells.text(message("Recovery codes", context="factor"))
            about = cells.text(message("%(n)s left", context="factor", n=codes.get("left", 0)))
            made = cells.instant(codes["creationDate"])
            rows.append([what, about, made, *([cells.text(None)] if may else [])])
        return sub_list(
            message("Second factors", context="factor"),
            [
                message("What", context="factor"),
                message("Details", context="factor"),
                message("Added", context="factor"),
                *([_REMOVE] if may else []),
            ],
            rows,
            message("They have none.", context="passkey"),
        )

    async def _passkeys(self, id: str) -> Document:
        list_page = await fetch_page(self, "passkeys", f"POST {USER}/passkeys/_search", id)
        may = self.may("user.write")
        path = f"{CONSOLE}{ONE}/passkeys/{{passkeyId}}/remove"
        return sub_list(
            message("Passkeys", context="passkey"),
            [
                message("Name", context="console"),
                message("Last used", context="users"),
                *([_REMOVE] if may else []),
            ],
            [
                [
                    cells.text(one["name"]),
                    cells.instant(one.get("lastUsedDate")),
                    *([cells.link(_REMOVE, self.at(path, id, one["id"]))] if may else []),
                ]
                for one in list_page.records
            ],
            message("They have none.", context="passkey"),
            pages=list_page,
        )

    async def _grants(self, id: str) -> Document:
        answer = await self.run(f"GET {MANAGED}/grants", id)
        may = self.may("user.grant.write")
        path = f"{CONSOLE}{ONE}/grants"
        return sub_list(
            message("Roles in projects", context="users"),
            [
                message("Project", context="console"),
                message("Roles", context="console"),
                *([_REMOVE] if may else []),
            ],
            [
                [
                    cells.code(one["projectId"]),
                    cells.codes(one.get("roleKeys", [])),
                    *(
                        [cells.link(_REMOVE, self.at(f"{path}/{{grantId}}/remove", id, one["id"]))]
                        if may
                        else []
                    ),
                ]
                for one in answer.get("result", ())
            ],
            message("They have no role in any project.", context="users"),
            [action_link(message("Give roles", context="users"), self.at(f"{path}/new", id))]
            if may
            else [],
        )

    async def _memberships(self, id: str) -> Document:
        list_page = await fetch_page(
            self, "memberships", f"POST {MANAGED}/memberships/_search", id
        )
        everywhere = message("The whole installation", context="users")
        return sub_list(
            message("What they manage", context="users"),
            [message("Organization", context="users"), message("Roles", context="console")],
            [
                [
                    cells.text(everywhere if one.get("iam") else one.get("displayName")),
                    cells.codes(one["roles"]),
                ]
                for one in list_page.records
            ],
            message("They manage nothing.", context="users"),
            pages=list_page,
        )

    async def _metadata(self, id: str) -> Document:
        list_page = await fetch_page(self, "metadata", f"POST {MANAGED}/metadata/_search", id)
        may = self.may("user.write")
        path = f"{CONSOLE}{ONE}/metadata"
        return sub_list(
            message("Metadata", context="users"),
            [
                message("Key", context="console"),
                message("Value", context="users"),
                *([_REMOVE] if may else []),
            ],
            [
                [
                    cells.code(one["key"]),
                    cells.text(_text(one["value"])),
                    *(
                        [cells.link(_REMOVE, self.at(f"{path}/{{key}}/remove", id, one["key"]))]
                        if may
                        else []
                    ),
                ]
                for one in list_page.records
            ],
            message("Nothing is kept with them.", context="users"),
            [action_link(message("Add metadata", context="users"), self.at(f"{path}/new", id))]
            if may
            else [],
            pages=list_page,
        )


def name_of(user: Document) -> str:
    """Returns the display name of a user or service user, from an answer of the API."""
    return str(at(user, "human.profile.displayName") or at(user, "machine.name") or "")


def _text(value: str) -> str:
    """Returns a metadata value as text if it is text, shortened; else in base64."""
    try:
        text = base64.b64decode(value).decode()
    except (binascii.Error, UnicodeDecodeError):
        text = value
    return text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "…"


def _facts(user: Document) -> list[Cell]:
    human = user.get("human", {})
    found = [
        fact(message("Login names", context="users"), cells.codes(user["loginNames"])),
        *_contact(_CONTACTS["email"], human.get("email", {}), "email"),
        *_contact(_CONTACTS["phone"], human.get("phone", {}), "phone"),
    ]
    found += [
        fact(field.label, cells.text(str(value)))
        for field in user_fields.profile("human.profile.")
        if (value := at(user, field.path)) and not field.path.endswith(("Name", "gender"))
    ]
    made = cells.instant(at(user, "details.creationDate"))
    return [
        *found,
        fact(
            message("Password set", context="users"), cells.instant(human.get("passwordChanged"))
        ),
        fact(_ID, cells.code(user["userId"])),
        fact(message("Created", context="console"), made),
    ]


def _contact(labels: tuple[Message, Message], known: Document, name: str) -> list[Cell]:
    """Returns a contact, and by whom it is verified if it is."""
    verified, unverified = labels
    # Without a contact there is nothing to verify.
    label = verified if known.get("isVerified") or not known else unverified
    shown = [fact(label, cells.text(known.get(name)))]
    if source := known.get("verifiedBy"):
        shown.append(fact(_CONFIRMED_BY, cells.text(_SOURCES[source])))
    return shown


def _possible(user: Document) -> Sequence[str]:
    """Returns the actions that are possible for a user in this state."""
    contacts = []
    for contact in ("email", "phone"):
        contacts.append(contact)
        known = at(user, f"human.{contact}")
        # A contact that the organization declared verified can still be verified by a code.
        if known and known.get("verifiedBy", "organization") == "organization":
            contacts += [f"verify-{contact}", f"resend-{contact}"]
    removals = ["remove-phone"] if at(user, "human.phone") else []
    turns = _TURNS[user["state"].rpartition("_")[2]]
    return ["edit", *contacts, *removals, "password", "password-reset", *turns, "delete"]
