"""The entry of an authentication method on the security page."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Final

from msgspec import Struct

from idp.foundation.i18n import Message, message
from idp.identity.users.subjects import Subject
from idp.service import Service


class FactorState(Struct, frozen=True):
    """The text about an authentication method that a user has set up. `time_text` is the text
    about the instant `at`, if that is known, with the placeholder `when` for it."""

    text: Message | None = None
    time_text: Message | None = None
    at: datetime | None = None


class Factor(Struct, frozen=True):
    """An authentication method. `path` is the page where it is set up and changed; `state` returns
    what the user has set up."""

    title: Message
    icon: str
    path: str
    state: Callable[[Service, Subject], Awaitable[FactorState]]


NOT_SET_UP: Final = FactorState(message("Not set up", context="account"))
LAST_USED: Final = message("last used %(when)s", context="account")
