"""The entry of a sign-in method on the security page."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from msgspec import Struct

from idp.foundation.i18n import Message
from idp.identity.users.subjects import Subject
from idp.service import Service


class Factor(Struct, frozen=True):
    """A sign-in method. `path` is the page where it is set up and changed; `state` returns a
    sentence about what the user has set up."""

    title: Message
    path: str
    state: Callable[[Service, Subject], Awaitable[Message]]
