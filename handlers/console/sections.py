"""The sections of the console, in the order of the navigation, each with its permission."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from idp.foundation.i18n import Message, message
from idp.identity.users.permissions import Permission, Rights
from idp.oauth.sign_in import first_party_areas

CONSOLE: Final = first_party_areas.CONSOLE.path
SEARCH: Final = f"{CONSOLE}/search"


class ConsoleSection(Struct, frozen=True):
    """A section of the console. It is open to persons with `permission` in any organization; to
    everyone who manages anything if that is None."""

    path: str
    label: Message
    permission: Permission | None = None


SECTIONS: Final[Mapping[str, ConsoleSection]] = {
    "overview": ConsoleSection(CONSOLE, message("Overview", context="console")),
    "organizations": ConsoleSection(
        f"{CONSOLE}/organizations", message("Organizations", context="console"), "org.read"
    ),
    "users": ConsoleSection(f"{CONSOLE}/users", message("Users", context="console"), "user.read"),
    "groups": ConsoleSection(
        f"{CONSOLE}/groups", message("Groups", context="console"), "group.read"
    ),
    "administrators": ConsoleSection(
        f"{CONSOLE}/administrators", message("Administrators", context="members"), "iam.read"
    ),
    "applications": ConsoleSection(
        f"{CONSOLE}/applications", message("Applications", context="console"), "project.app.read"
    ),
    "projects": ConsoleSection(
        f"{CONSOLE}/projects", message("Projects", context="console"), "project.read"
    ),
    "service-users": ConsoleSection(
        f"{CONSOLE}/service-users", message("Service accounts", context="console"), "user.read"
    ),
    "connections": ConsoleSection(
        f"{CONSOLE}/connections", message("Connections", context="connections"), "idp.read"
    ),
    "installation-connections": ConsoleSection(
        f"{CONSOLE}/installation/connections",
        message("Connections of the installation", context="connections"),
        "iam.idp.read",
    ),
    "policies": ConsoleSection(
        f"{CONSOLE}/policies", message("Policies", context="console"), "policy.read"
    ),
    "safety": ConsoleSection(
        f"{CONSOLE}/settings/safety", message("Safety", context="console"), "iam.read"
    ),
    "keys": ConsoleSection(
        f"{CONSOLE}/keys", message("Signing keys", context="console"), "iam.read"
    ),
    "events": ConsoleSection(
        f"{CONSOLE}/events", message("Events", context="console"), "events.read"
    ),
    "sessions": ConsoleSection(
        f"{CONSOLE}/sessions", message("Sessions", context="users"), "user.read"
    ),
    "mail": ConsoleSection(f"{CONSOLE}/mail", message("Mail", context="outbox"), "iam.read"),
    "jobs": ConsoleSection(f"{CONSOLE}/jobs", message("Jobs", context="console"), "iam.read"),
}


def open_to(rights: Rights) -> dict[str, ConsoleSection]:
    """Returns the sections that a person with these permissions may open, by name."""
    return {
        name: section
        for name, section in SECTIONS.items()
        if section.permission is None or rights.allow_somewhere(section.permission)
    }
