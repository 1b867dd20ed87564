"""The shared texts of the pages that ask for a code from a message."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from idp.foundation.i18n import Message, message

REFUSALS: Final[Mapping[str, Message]] = {
    "code.wrong": message(
        "That code isn't right. It is in the newest mail.", context="verify-email"
    ),
    "code.tries": message(
        "That was wrong too often. Ask for another mail, with a new code.", context="verify-email"
    ),
    "code.expired": message(
        "That code has expired. We've sent a new one.", context="verify-email"
    ),
}
SENT_AGAIN: Final = message(
    "We've sent another mail. The code in the one before counts no more.", context="verify-email"
)


def too_soon(seconds: int) -> Message:
    """Returns the text that another message can be requested after `seconds`."""
    return message(
        "A mail was sent not long ago. You can ask for another in %(n)s second.",
        plural="A mail was sent not long ago. You can ask for another in %(n)s seconds.",
        context="verify-email",
        n=seconds,
    )
