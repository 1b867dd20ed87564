"""The console's page of a person: profile, sessions, passkeys, roles, metadata and actions."""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import Awaitable, Sequence
from typing import Final

from handlers.console.base import ConsoleHandler
from handlers.console.sections import CONSOLE
from handlers.console.sub_lists import fetch_page
from handlers.console.users.actions import PAGE_PATH, SECTION
from handlers.forms import cells, user_fields
from handlers.forms.cells import Cell, action_link, labelled_cell, sub_list
from handlers.forms.fields import value_at
from handlers.forms.run_operation import Document
from idp import api
from idp.foundation.i18n import Message, message

_ID: Final = message("ID", context="console")
_VERIFIED_BY: Final = message("Verified by", context="users")
_SOURCES: Final = {
    "organization": message("the organization", context="users"),
    "mailbox": message("a code that was sent", context="users"),
    "domain": message("the organization's domain", context="users"),
    "instance": message("the installation", context="users"),
}
_CONTACTS: Final = {  # the label if it is verified, and if it is not
    "email": (
        message("Email", context="users"),
        message("Email (not verified)", context="users"),
    ),
    "phone": (
        message("Phone number", context="users"),
        message("Phone number (not verified)", context="users"),
    ),
}
_REMOVE: Final = message("Remove", context="console")
_MAX_CHARACTERS: Final = 200
_DANGEROUS: Final = ("deactivate", "lock", "delete", "remove-phone")

_LABELS: Final = {
    "edit": message("Change", context="users"),
    "email": message("Change the email", context="users"),
    "verify-email": message("Verify the email", context="users"),
    "resend-email": message("New code for the email", context="users"),
    "phone": message("Change the phone number", context="users"),
    "verify-phone": message("Verify the phone number", context="users"),
    "resend-phone": message("New code for the phone number", context="users"),
    "remove-phone": message("Remove the phone number", context="users"),
    "password": message("Set a password", context="users"),
    "password-reset": message("Reset the password", context="users"),
    "deactivate": message("Deactivate", context="console"),
    "reactivate": message("Reactivate", context="console"),
    "lock": message("Lock", context="users"),
    "unlock": message("Unlock", context="users"),
    "delete": message("Delete", context="console"),
}
_STATE_CHANGES: Final = {
    "ACTIVE": ("lock", "deactivate"),
    "INACTIVE": ("reactivate",),
    "LOCKED": ("unlock",),
}


class UserHandler(ConsoleHandler):
    """Shows one person with their profile, sessions, sign-in methods, roles and metadata."""

    section = SECTION

    async def show(self, *ids: str) -> None:
        (user_id,) = ids
        user = (await self.run(api.users.READ, user_id))["user"]
        self.page(
            "console/show",
            title_text=name_of(user),
            state=cells.state(user["state"]),
            intro=None,
            properties=_properties(user),
            actions=self._action_links(user_id, user),
            page_parts=await asyncio.gather(*self._parts(user_id)),
            commands=self.shell(api.users.READ, ids, "user show {userId}"),
        )

    def _parts(self, user_id: str) -> list[Awaitable[Document]]:
        grants = [self._grants(user_id)] if self.may("user.grant.read") else []
        sections = [self._memberships(user_id), self._metadata(user_id)]
        return [
            self._sessions(user_id),
            self._passkeys(user_id),
            self._factors(user_id),
            *grants,
            *sections,
        ]

    def _action_links(self, user_id: str, user: Document) -> list[Cell]:
        if not self.may("user.write"):
            return []
        return [
            action_link(
                _LABELS[action],
                self.url_of(f"{CONSOLE}{PAGE_PATH}/{action}", user_id),
                is_dangerous=action in _DANGEROUS,
            )
            for action in _possible_actions(user)
        ]

    async def _sessions(self, user_id: str) -> Document:
        list_page = await fetch_page(
            self, "sessions", api.users.SEARCH_SESSIONS, user_id, limit=100
        )
        may_change = self.may("user.write")
        # The search finds ended sessions too.
        live_sessions = [
            session for session in list_page.records if session["state"].endswith("_ACTIVE")
        ]
        end_label = message("End", context="users")
        path = f"{CONSOLE}{PAGE_PATH}/sessions/{{sessionId}}/end"
        return sub_list(
            message("Sessions", context="users"),
            [
                message("Signed in", context="users"),
                message("Last used", context="users"),
                *([end_label] if may_change else []),
            ],
            [
                [
                    cells.instant(session["authenticationDate"]),
                    cells.instant(session["lastUsedDate"]),
                    *(
                        [cells.link(end_label, self.url_of(path, user_id, session["id"]))]
                        if may_change
                        else []
                    ),
                ]
                for session in live_sessions
            ],
            message("No active sessions.", context="users"),
            [
                action_link(
                    message("Sign out everywhere", context="users"),
                    self.url_of(f"{CONSOLE}{PAGE_PATH}/end-sessions", user_id),
                    is_dangerous=True,
                )
            ]
            if may_change and bool(live_sessions or list_page.next_url)
            else [],
            pages=list_page,
        )

    async def _factors(self, user_id: str) -> Document:
        answer = await self.run(api.users.AUTHENTICATION_METHODS, user_id)
        may_change, rows = self.may("user.write"), []
        if app := answer.get("totp"):
            link = cells.link(_REMOVE, self.url_of(f"{CONSOLE}{PAGE_PATH}/totp/remove", user_id))
            name = cells.text(message("Authenticator app", context="factor"))
            details = cells.text(app.get("name"))
            rows.append(
                [
                    name,
                    details,
                    cells.instant(app["creationDate"]),
                    *([link] if may_change else []),
                ]
            )
        if codes := answer.get("recoveryCodes"):
            name = cells.text(message("Recovery codes", context="factor"))
            details = cells.text(message("%(n)s left", context="factor", n=codes.get("left", 0)))
            created = cells.instant(codes["creationDate"])
            rows.append([name, details, created, *([cells.text(None)] if may_change else [])])
        return sub_list(
            message("Second factors", context="factor"),
            [
                message("What", context="factor"),
                message("Details", context="factor"),
                message("Added", context="factor"),
                *([_REMOVE] if may_change else []),
            ],
            rows,
            message("No second factor is set up.", context="factor"),
        )

    async def _passkeys(self, user_id: str) -> Document:
        list_page = await fetch_page(self, "passkeys", api.users.SEARCH_PASSKEYS, user_id)
        may_change = self.may("user.write")
        path = f"{CONSOLE}{PAGE_PATH}/passkeys/{{passkeyId}}/remove"
        return sub_list(
            message("Passkeys", context="passkey"),
            [
                message("Name", context="console"),
                message("Last used", context="users"),
                *([_REMOVE] if may_change else []),
            ],
            [
                [
                    cells.text(passkey["name"]),
                    cells.instant(passkey.get("lastUsedDate")),
                    *(
                        [cells.link(_REMOVE, self.url_of(path, user_id, passkey["id"]))]
                        if may_change
                        else []
                    ),
                ]
                for passkey in list_page.records
            ],
            message("No passkeys", context="passkey"),
            pages=list_page,
        )

    async def _grants(self, user_id: str) -> Document:
        answer = await self.run(api.users.GRANTS, user_id)
        may_change = self.may("user.grant.write")
        path = f"{CONSOLE}{PAGE_PATH}/grants"
        return sub_list(
            message("Roles in projects", context="users"),
            [
                message("Project", context="console"),
                message("Roles", context="console"),
                *([_REMOVE] if may_change else []),
            ],
            [
                [
                    cells.code(grant["projectId"]),
                    cells.codes(grant.get("roleKeys", [])),
                    *(
                        [
                            cells.link(
                                _REMOVE,
                                self.url_of(f"{path}/{{grantId}}/remove", user_id, grant["id"]),
                            )
                        ]
                        if may_change
                        else []
                    ),
                ]
                for grant in answer.get("result", ())
            ],
            message("No roles in projects.", context="users"),
            [
                action_link(
                    message("Assign roles", context="users"), self.url_of(f"{path}/new", user_id)
                )
            ]
            if may_change
            else [],
        )

    async def _memberships(self, user_id: str) -> Document:
        list_page = await fetch_page(
            self, "memberships", api.organizations.SEARCH_MEMBERSHIPS, user_id
        )
        installation = message("The whole installation", context="users")
        return sub_list(
            message("Administrator roles", context="users"),
            [message("Organization", context="users"), message("Roles", context="console")],
            [
                [
                    cells.text(
                        installation if membership.get("iam") else membership.get("displayName")
                    ),
                    cells.codes(membership["roles"]),
                ]
                for membership in list_page.records
            ],
            message("No administrator roles.", context="users"),
            pages=list_page,
        )

    async def _metadata(self, user_id: str) -> Document:
        list_page = await fetch_page(self, "metadata", api.users.SEARCH_METADATA, user_id)
        may_change = self.may("user.write")
        path = f"{CONSOLE}{PAGE_PATH}/metadata"
        return sub_list(
            message("Metadata", context="users"),
            [
                message("Key", context="console"),
                message("Value", context="users"),
                *([_REMOVE] if may_change else []),
            ],
            [
                [
                    cells.code(entry["key"]),
                    cells.text(_text(entry["value"])),
                    *(
                        [
                            cells.link(
                                _REMOVE,
                                self.url_of(f"{path}/{{key}}/remove", user_id, entry["key"]),
                            )
                        ]
                        if may_change
                        else []
                    ),
                ]
                for entry in list_page.records
            ],
            message("No metadata.", context="users"),
            [
                action_link(
                    message("Add metadata", context="users"), self.url_of(f"{path}/new", user_id)
                )
            ]
            if may_change
            else [],
            pages=list_page,
        )


def name_of(user: Document) -> str:
    """Returns the display name of a user or service user, from an answer of the API."""
    return str(value_at(user, "human.profile.displayName") or value_at(user, "machine.name") or "")


def _text(value: str) -> str:
    """Returns a metadata value as text if it is text, shortened; else in base64."""
    try:
        text = base64.b64decode(value).decode()
    except (binascii.Error, UnicodeDecodeError):
        text = value
    return text if len(text) <= _MAX_CHARACTERS else text[:_MAX_CHARACTERS] + "…"


def _properties(user: Document) -> list[Cell]:
    human = user.get("human", {})
    properties = [
        labelled_cell(message("Usernames", context="users"), cells.codes(user["loginNames"])),
        *_contact(_CONTACTS["email"], human.get("email", {}), "email"),
        *_contact(_CONTACTS["phone"], human.get("phone", {}), "phone"),
    ]
    properties += [
        labelled_cell(field.label, cells.text(str(value)))
        for field in user_fields.profile("human.profile.")
        if (value := value_at(user, field.path)) and not field.path.endswith(("Name", "gender"))
    ]
    created = cells.instant(value_at(user, "details.creationDate"))
    return [
        *properties,
        labelled_cell(
            message("Password set", context="users"), cells.instant(human.get("passwordChanged"))
        ),
        labelled_cell(_ID, cells.code(user["userId"])),
        labelled_cell(message("Created", context="console"), created),
    ]


def _contact(labels: tuple[Message, Message], contact: Document, name: str) -> list[Cell]:
    """Returns a contact and, if it is verified, who verified it."""
    verified, unverified = labels
    # Without a contact there is nothing to verify.
    label = verified if contact.get("isVerified") or not contact else unverified
    properties = [labelled_cell(label, cells.text(contact.get(name)))]
    if source := contact.get("verifiedBy"):
        properties.append(labelled_cell(_VERIFIED_BY, cells.text(_SOURCES[source])))
    return properties


def _possible_actions(user: Document) -> Sequence[str]:
    """Returns the actions that are possible for a user in this state."""
    contacts = []
    for contact in ("email", "phone"):
        contacts.append(contact)
        stored = value_at(user, f"human.{contact}")
        # A contact that the organization declared verified can still be verified by a code.
        if stored and stored.get("verifiedBy", "organization") == "organization":
            contacts += [f"verify-{contact}", f"resend-{contact}"]
    removals = ["remove-phone"] if value_at(user, "human.phone") else []
    state_changes = _STATE_CHANGES[user["state"].rpartition("_")[2]]
    return ["edit", *contacts, *removals, "password", "password-reset", *state_changes, "delete"]
