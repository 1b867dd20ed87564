"""The mail to the owner of a new account, who has to choose a password."""

from __future__ import annotations

from idp.foundation.i18n import Bundle, message
from idp.mail import messages
from idp.mail.messages import MailMessage, MessageCode, MessageLink, Wording


def with_link(
    bundle: Bundle, to: str, host: str, code: str, url: str, *, hours: int, wording: Wording
) -> MailMessage:
    """Returns the mail, to the address `to`, with a link to choose a password, which also verifies
    the address, and with the code that verifies the address on another page. Link and code are
    valid for `hours`.

    It contains no name, so that no one can choose a text that a stranger reads. `host` is the name
    of the service.
    """
    return messages.write(
        bundle,
        to,
        message("Choose a password for your account", context="mail"),
        [
            message(
                "An account with this email was created for you at %(host)s. Choose a"
                " password to start using it.",
                context="mail",
                host=host,
            ),
            MessageLink(message("Open this page in any browser:", context="mail"), url),
            message(
                "Or enter this code when you're asked to verify your email:",
                context="mail",
            ),
            MessageCode(code),
            message(
                "Both are valid for %(n)s hour.",
                plural="Both are valid for %(n)s hours.",
                context="mail",
                n=hours,
            ),
            message(
                "If you didn't request this, ignore this email and don't share the code.",
                context="mail",
            ),
        ],
        wording,
    )
