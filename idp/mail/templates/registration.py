"""Mails to the address of a registration.

They contain no name that was typed, so that no one can choose a text that a stranger reads.
"""

from __future__ import annotations

from idp.foundation.i18n import Bundle, message
from idp.mail import messages
from idp.mail.messages import MailMessage, MessageCode, MessageLink, Part, Wording


def with_code(
    bundle: Bundle, to: str, application: str, code: str, url: str, minutes: int, wording: Wording
) -> MailMessage:
    """Returns the mail, to the address `to`, with the code that verifies the address for a
    registration, and with a link that contains the code. Both are valid for `minutes`;
    `application` is the name of the one that the user registers for."""
    parts: list[Part] = [
        message(
            "Somebody, probably you, is opening an account for %(application)s with this address."
            " To confirm that the address is yours, type this code where you are asked for it:",
            context="mail",
            application=application,
        ),
        MessageCode(code),
        MessageLink(message("Or open this page in the same browser:", context="mail"), url),
        message(
            "The code counts for %(n)s minute.",
            plural="The code counts for %(n)s minutes.",
            context="mail",
            n=minutes,
        ),
        message(
            "If it was not you, do nothing: without the code no account is opened. Give the code"
            " to nobody.",
            context="mail",
        ),
    ]
    subject = message("Confirm your e-mail address", context="mail")
    return messages.write(bundle, to, subject, parts, wording)


def of_known(bundle: Bundle, to: str, application: str, sign_in_url: str) -> MailMessage:
    """Returns the mail to the address `to`, which was entered for a registration but has an
    account already: it links to the sign-in at `sign_in_url`. The pages of the registration do not
    reveal that."""
    parts: list[Part] = [
        message(
            "Somebody, probably you, wanted to open an account for %(application)s with this"
            " address. There is one already: sign in with this address and your password.",
            context="mail",
            application=application,
        ),
        MessageLink(message("Sign in, in the same browser:", context="mail"), sign_in_url),
        message("If it was not you, do nothing: nothing was changed.", context="mail"),
    ]
    return messages.write(
        bundle, to, message("You have an account already", context="mail"), parts
    )
