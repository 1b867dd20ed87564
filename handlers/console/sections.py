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
    everyone who manages anything if that is None.

    `group` is the heading under which the navigation lists it, and `icon` the drawing beside it
    (`templates/static/icons`).
    """

    path: str
    label: Message
    permission: Permission | None = None
    group: Message | None = None
    icon: str = "folder"


_DIRECTORY: Final = message("Directory", context="console")
_APPLICATIONS: Final = message("Applications", context="console")
_SIGN_IN: Final = message("Sign-in", context="console")
_MONITOR: Final = message("Monitor", context="console")
_INSTALLATION: Final = message("Installation", context="console")

SECTIONS: Final[Mapping[str, ConsoleSection]] = {
    "overview": ConsoleSection(
        CONSOLE, message("Overview", context="console"), icon="layout-dashboard"
    ),
    "users": ConsoleSection(
        f"{CONSOLE}/users", message("Users", context="console"), "user.read", _DIRECTORY, "users"
    ),
    "groups": ConsoleSection(
        f"{CONSOLE}/groups",
        message("Groups", context="console"),
        "group.read",
        _DIRECTORY,
        "users-round",
    ),
    "service-users": ConsoleSection(
        f"{CONSOLE}/service-users",
        message("Service accounts", context="console"),
        "user.read",
        _DIRECTORY,
        "bot",
    ),
    "organizations": ConsoleSection(
        f"{CONSOLE}/organizations",
        message("Organizations", context="console"),
        "org.read",
        _DIRECTORY,
        "building-2",
    ),
    "administrators": ConsoleSection(
        f"{CONSOLE}/administrators",
        message("Administrators", context="members"),
        "iam.read",
        _DIRECTORY,
        "user-cog",
    ),
    "applications": ConsoleSection(
        f"{CONSOLE}/applications",
        message("Applications", context="console"),
        "project.app.read",
        _APPLICATIONS,
        "app-window",
    ),
    "projects": ConsoleSection(
        f"{CONSOLE}/projects",
        message("Projects and roles", context="console"),
        "project.read",
        _APPLICATIONS,
        "folder",
    ),
    "policies": ConsoleSection(
        f"{CONSOLE}/policies",
        message("Methods and policies", context="console"),
        "policy.read",
        _SIGN_IN,
        "sliders-horizontal",
    ),
    "connections": ConsoleSection(
        f"{CONSOLE}/connections",
        message("Connections", context="connections"),
        "idp.read",
        _SIGN_IN,
        "link",
    ),
    "branding": ConsoleSection(
        f"{CONSOLE}/policies/branding",
        message("Branding", context="console"),
        "policy.read",
        _SIGN_IN,
        "palette",
    ),
    "texts": ConsoleSection(
        f"{CONSOLE}/policies/texts",
        message("Texts", context="console"),
        "policy.read",
        _SIGN_IN,
        "languages",
    ),
    "domains": ConsoleSection(
        f"{CONSOLE}/domains", message("Domains", context="domains"), "org.read", _SIGN_IN, "globe"
    ),
    "events": ConsoleSection(
        f"{CONSOLE}/events",
        message("Events", context="console"),
        "events.read",
        _MONITOR,
        "activity",
    ),
    "sessions": ConsoleSection(
        f"{CONSOLE}/sessions",
        message("Sessions", context="users"),
        "user.read",
        _MONITOR,
        "monitor-smartphone",
    ),
    "mail": ConsoleSection(
        f"{CONSOLE}/mail", message("Mail", context="outbox"), "iam.read", _MONITOR, "mail"
    ),
    "jobs": ConsoleSection(
        f"{CONSOLE}/jobs", message("Jobs", context="console"), "iam.read", _MONITOR, "clock"
    ),
    "safety": ConsoleSection(
        f"{CONSOLE}/settings/safety",
        message("Safety", context="console"),
        "iam.read",
        _INSTALLATION,
        "shield-check",
    ),
    "keys": ConsoleSection(
        f"{CONSOLE}/keys",
        message("Signing keys", context="console"),
        "iam.read",
        _INSTALLATION,
        "key-round",
    ),
    "installation-connections": ConsoleSection(
        f"{CONSOLE}/installation/connections",
        message("Shared connections", context="connections"),
        "iam.idp.read",
        _INSTALLATION,
        "link",
    ),
}


def open_to(rights: Rights) -> dict[str, ConsoleSection]:
    """Returns the sections that a person with these permissions may open, by name."""
    return {
        name: section
        for name, section in SECTIONS.items()
        if section.permission is None or rights.allow_somewhere(section.permission)
    }
