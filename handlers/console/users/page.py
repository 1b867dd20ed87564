"""The console's page of a person: the profile with its actions, and a tab for each subject."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import ClassVar, Final

from handlers.console.base import ConsoleHandler
from handlers.console.sections import CONSOLE
from handlers.console.tabs import Tab, TabbedHandler
from handlers.console.users import page_parts
from handlers.console.users.actions import PAGE_PATH, SECTION
from handlers.forms import cells, user_fields
from handlers.forms.cells import Cell, action_link, labelled_cell
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


_PARTS: Final[Mapping[str, Sequence[Callable[[ConsoleHandler, str], Awaitable[Document]]]]] = {
    "methods": (page_parts.passkeys, page_parts.factors, page_parts.links),
    "sessions": (page_parts.sessions,),
    "roles": (page_parts.grants, page_parts.memberships),
    "activity": (page_parts.activity,),
    "metadata": (page_parts.metadata,),
}


class UserHandler(TabbedHandler):
    """Shows one tab of the page of a person."""

    section = SECTION
    page_path = PAGE_PATH
    tabs: ClassVar = {
        "": Tab(message("Profile", context="account"), "user.read"),
        "methods": Tab(message("Sign-in methods", context="users"), "user.read"),
        "sessions": Tab(message("Sessions", context="users"), "user.read"),
        "roles": Tab(message("Roles", context="console"), "user.grant.read"),
        "activity": Tab(message("Activity", context="users"), "events.read"),
        "metadata": Tab(message("Metadata", context="users"), "user.read"),
    }

    async def show(self, *ids: str) -> None:
        self.check_tab()
        (user_id,) = ids
        user = (await self.run(api.users.READ, user_id))["user"]
        parts, is_first = _PARTS.get(self.tab, ()), not self.tab
        self.object_page(
            name_of(user),
            state=cells.state(user["state"]),
            tabs=self.tab_links(ids),
            properties=_properties(user) if is_first else (),
            actions=self._action_links(user_id, user) if is_first else (),
            page_parts=await asyncio.gather(*(part(self, user_id) for part in parts)),
            commands=self.shell(api.users.READ, ids, "user show {userId}"),
        )

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


def name_of(user: Document) -> str:
    """Returns the display name of a user or service user, from an answer of the API."""
    return str(value_at(user, "human.profile.displayName") or value_at(user, "machine.name") or "")


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
