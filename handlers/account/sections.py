"""The parts of a person's own account, in the order of its navigation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from idp.foundation.i18n import Message, message
from idp.oauth.sign_in import first_party_areas

ACCOUNT: Final = first_party_areas.ACCOUNT.path


class Section(Struct, frozen=True):
    """A part of the account; `path` is its first page."""

    path: str
    label: Message


SECTIONS: Final[Mapping[str, Section]] = {
    "overview": Section(ACCOUNT, message("Overview", context="console")),
    "profile": Section(f"{ACCOUNT}/profile", message("Profile", context="account")),
    "security": Section(f"{ACCOUNT}/security", message("Sign-in and security", context="account")),
    "sessions": Section(f"{ACCOUNT}/sessions", message("Sessions", context="users")),
    "applications": Section(
        f"{ACCOUNT}/applications", message("Connected applications", context="account")
    ),
    "language": Section(f"{ACCOUNT}/language", message("Language", context="page")),
    "data": Section(f"{ACCOUNT}/data", message("Your data", context="account")),
}
