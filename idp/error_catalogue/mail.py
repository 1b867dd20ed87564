"""Error codes about mail and text messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from idp.error_catalogue.entry import CatalogueEntry

ERROR_CODES: Final[Mapping[str, CatalogueEntry]] = {
    "mail.mailbox_limit": CatalogueEntry(
        429,
        "The recipient got as many messages within an hour as calls of organizations may send.",
        "Send the request again after as many seconds as Retry-After says, or have the code"
        " returned.",
    ),
    "mail.not_found": CatalogueEntry(
        404,
        "No message of the last seven days has this ID.",
        "Search for it.",
    ),
    "mail.not_sent": CatalogueEntry(
        400,
        "The mail server refused the mail; the message has its answer.",
        "Fix the settings smtp_* or the mail server, and try again.",
    ),
    "mail.not_waiting": CatalogueEntry(
        400,
        "The message was already sent, or is being sent.",
        "There is nothing left to do.",
    ),
    "mail.off": CatalogueEntry(
        400,
        "No mail server is set up (or, for text messages, no hook): messages are held.",
        "The operators of the service set smtp_host and smtp_from, or sms_hook_url.",
    ),
    "mail.organization_limit": CatalogueEntry(
        429,
        "The organization has sent as many codes and invitations within a day as it may send.",
        "Send the request again after as many seconds as Retry-After says, or have the code"
        " returned. The operators of the service set organization_mails_per_day.",
    ),
}
