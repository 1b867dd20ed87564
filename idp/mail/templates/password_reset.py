"""The mail for choosing a new password."""

from __future__ import annotations

from idp.foundation.i18n import Bundle, message
from idp.mail import messages
from idp.mail.messages import MailMessage, MessageCode, MessageLink, Part, Wording


def with_code(
    bundle: Bundle,
    to: str,
    host: str,
    code: str,
    url: str,
    *,
    code_minutes: int,
    link_minutes: int,
    wording: Wording,
) -> MailMessage:
    """Returns the mail, to the address `to`, with a code for the page on which the user requested
    a new password, and with a link to choose the password without that code. They are valid for
    `code_minutes` and `link_minutes`; `host` is the name of the service."""
    parts: list[Part] = [
        message(
            "To choose a new password for your account at %(host)s, enter this code when"
            " you're asked for it:",
            context="mail",
            host=host,
        ),
        MessageCode(code),
        MessageLink(message("Or open this page in any browser:", context="mail"), url),
        message(
            "The code is valid for %(n)s minute.",
            plural="The code is valid for %(n)s minutes.",
            context="mail",
            n=code_minutes,
        ),
        message(
            "The link is valid for %(n)s minute.",
            plural="The link is valid for %(n)s minutes.",
            context="mail",
            n=link_minutes,
        ),
        message(
            "If you didn't request this, ignore this email and don't share the code.",
            context="mail",
        ),
    ]
    return messages.write(
        bundle, to, message("Choose a new password", context="mail"), parts, wording
    )
