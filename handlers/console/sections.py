"""The parts of the console, in the order of its navigation; each is there for who may read it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from idp.foundation.i18n import Message, message
from idp.identity.users.permissions import Permission, Rights
from idp.oauth.sign_in import first_party_areas

CONSOLE: Final = first_party_areas.CONSOLE.path


class Section(Struct, frozen=True):
    """A part of the console, for whoever holds `permission` anywhere; None: for all."""

    path: str
    label: Message
    permission: Permission | None = None


SECTIONS: Final[Mapping[str, Section]] = {
    "overview": Section(CONSOLE, message("Overview", context="console")),
    "organizations": Section(
        f"{CONSOLE}/organizations", message("Organizations", context="console"), "org.read"
    ),
    "users": Section(f"{CONSOLE}/users", message("Users", context="console"), "user.read"),
    "administrators": Section(
        f"{CONSOLE}/administrators", message("Administrators", context="members"), "iam.read"
    ),
    "applications": Section(
        f"{CONSOLE}/applications", message("Applications", context="console"), "project.app.read"
    ),
    "projects": Section(
        f"{CONSOLE}/projects", message("Projects", context="console"), "project.read"
    ),
    "service-users": Section(
        f"{CONSOLE}/service-users", message("Service users", context="console"), "user.read"
    ),
    "policies": Section(
        f"{CONSOLE}/policies", message("Policies", context="console"), "policy.read"
    ),
    "safety": Section(
        f"{CONSOLE}/settings/safety", message("Safety", context="console"), "iam.read"
    ),
    "keys": Section(f"{CONSOLE}/keys", message("Signing keys", context="console"), "iam.read"),
    "events": Section(f"{CONSOLE}/events", message("Events", context="console"), "events.read"),
    "mail": Section(f"{CONSOLE}/mail", message("Mail", context="outbox"), "iam.read"),
    "jobs": Section(f"{CONSOLE}/jobs", message("Jobs", context="console"), "iam.read"),
}


def open_to(rights: Rights) -> dict[str, Section]:
    """The sections that somebody with these rights can open."""
    return {
        name: section
        for name, section in SECTIONS.items()
        if section.permission is None or rights.allow_somewhere(section.permission)
    }
