"""The parts of the account pages, in the order of the navigation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from idp.foundation.i18n import Message, message
from idp.oauth.sign_in import first_party_areas

ACCOUNT: Final = first_party_areas.ACCOUNT.path


class AccountSection(Struct, frozen=True):
    """A section of the account pages; `path` is its first page."""

    path: str
    label: Message
    icon: str


SECTIONS: Final[Mapping[str, AccountSection]] = {
    "overview": AccountSection(
        ACCOUNT, message("Overview", context="console"), "layout-dashboard"
    ),
    "profile": AccountSection(f"{ACCOUNT}/profile", message("Profile", context="account"), "user"),
    "security": AccountSection(
        f"{ACCOUNT}/security", message("Sign-in and security", context="account"), "shield-check"
    ),
    "sessions": AccountSection(
        f"{ACCOUNT}/sessions", message("Sessions", context="users"), "monitor-smartphone"
    ),
    "applications": AccountSection(
        f"{ACCOUNT}/applications", message("My applications", context="account"), "app-window"
    ),
    "language": AccountSection(
        f"{ACCOUNT}/language", message("Language", context="page"), "languages"
    ),
    "data": AccountSection(f"{ACCOUNT}/data", message("Your data", context="account"), "download"),
}
