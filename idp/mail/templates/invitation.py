"""What a mailbox is told when an account was made for its owner, who has to choose a password."""

from __future__ import annotations

from idp.foundation.i18n import Bundle, message
from idp.mail import messages
from idp.mail.messages import MailMessage, MessageCode, MessageLink, Wording


def with_link(
    bundle: Bundle, to: str, host: str, code: str, url: str, *, hours: int, wording: Wording
) -> MailMessage:
    """The link to the first password, which proves the address, too; and the code that does so
    elsewhere. No name stands in it: whoever asks for a mail must not choose what others read."""
    return messages.write(
        bundle,
        to,
        message("Choose a password for your account", context="mail"),
        [
            message(
                "An account with this address was made for you at %(host)s. To use it, choose a"
                " password.",
                context="mail",
                host=host,
            ),
            MessageLink(message("Open this page, in any browser:", context="mail"), url),
            message(
                "Or type this code, where you are asked for one to confirm your address:",
                context="mail",
            ),
            MessageCode(code),
            message(
                "Both count for %(n)s hour.",
                plural="Both count for %(n)s hours.",
                context="mail",
                n=hours,
            ),
            message(
                "If you know nothing of this, do nothing, and give the code to nobody.",
                context="mail",
            ),
        ],
        wording,
    )
