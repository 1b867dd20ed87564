"""The account's texts of confirmations and refusals; the address names a confirmation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from idp.foundation.i18n import Message, message

LOCKED: Final = message(
    "Your organization looks after this. Ask the people there for a change.", context="account"
)
REFUSED: Final[Mapping[int, Message]] = {
    403: LOCKED,
    404: message("It is not there any more.", context="account"),
}

DONE: Final[Mapping[str, Message]] = {
    "saved": message("Saved.", context="console"),
    "added": message("Added.", context="console"),
    "removed": message("Removed.", context="console"),
    "sent": message("Sent.", context="console"),
    "ended": message("Ended.", context="console"),
    "verified": message("Confirmed.", context="console"),
    "password": message(
        "Your password is changed. Wherever else you were signed in, you are signed out now.",
        context="signed-in",
    ),
}
