"""The shared texts of the pages that ask for a code from a message."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from idp.foundation.i18n import Message, message

REFUSALS: Final[Mapping[str, Message]] = {
    "code.wrong": message(
        "Enter the code from the newest email. This one is wrong.", context="verify-email"
    ),
    "code.tries": message(
        "Request a new code. There were too many failed attempts.", context="verify-email"
    ),
    "code.closed": message(
        "Try again tomorrow. Too many wrong codes were entered for this email.",
        context="verify-email",
    ),
    "code.expired": message(
        "That code has expired. We've sent a new one.", context="verify-email"
    ),
}
SENT_AGAIN: Final = message(
    "We've sent a new code. The previous one is no longer valid.", context="verify-email"
)


def too_soon(seconds: int) -> Message:
    """Returns the text that another message can be requested after `seconds`."""
    return message(
        "We sent an email recently. You can request another in %(n)s second.",
        plural="We sent an email recently. You can request another in %(n)s seconds.",
        context="verify-email",
        n=seconds,
    )
