"""The account's texts of confirmations and refusals; the address names a confirmation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from idp.foundation.i18n import Message, message

LOCKED: Final = message(
    "Your organization manages this. Ask an administrator to change it.", context="account"
)
REFUSALS: Final[Mapping[int, Message]] = {
    403: LOCKED,
    404: message("It no longer exists.", context="account"),
}

CONFIRMATIONS: Final[Mapping[str, Message]] = {
    "saved": message("Saved.", context="console"),
    "added": message("Added.", context="console"),
    "removed": message("Removed.", context="console"),
    "sent": message("Sent.", context="console"),
    "ended": message("Ended.", context="console"),
    "verified": message("Verified.", context="console"),
    "password": message(
        "Your password was changed. You've been signed out everywhere else.",
        context="signed-in",
    ),
}
