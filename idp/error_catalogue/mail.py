"""Error codes about mail and text messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from idp.error_catalogue.entry import CatalogueEntry

ERROR_CODES: Final[Mapping[str, CatalogueEntry]] = {
    "mail.not_found": CatalogueEntry(
        404,
        "No letter of the last seven days has this id.",
        "Search for it.",
    ),
    "mail.not_sent": CatalogueEntry(
        400,
        "The mail server did not take the mail; the message says what it answered.",
        "Mend the settings smtp_* or the mail server, and try again.",
    ),
    "mail.not_waiting": CatalogueEntry(
        400,
        "The letter is sent already, or it is being sent.",
        "Nothing is to be done.",
    ),
    "mail.off": CatalogueEntry(
        400,
        "No mail server is set up (or, for text messages, no hook): letters are held.",
        "Whoever runs the service sets smtp_host and smtp_from, or sms_hook_url.",
    ),
}
