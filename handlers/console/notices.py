"""The console's texts of confirmations; the address of a page names one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from idp.foundation.i18n import Message, message

CONFIRMATIONS: Final[Mapping[str, Message]] = {
    "created": message("Created.", context="console"),
    "saved": message("Saved.", context="console"),
    "added": message("Added.", context="console"),
    "removed": message("Removed.", context="console"),
    "deleted": message("Deleted.", context="console"),
    "deactivated": message("Deactivated.", context="console"),
    "reactivated": message("Reactivated.", context="console"),
    "locked": message("Locked.", context="console"),
    "unlocked": message("Unlocked.", context="console"),
    "sent": message("Sent.", context="console"),
    "ended": message("Ended.", context="console"),
    "verified": message("Verified.", context="console"),
    "token": message("Publish this", context="domains"),
}
