"""Mails to the address of a registration.

They contain no name that a user entered, so that no one can choose a text that a stranger
receives.
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
    `application` is the name of the application that the user registers for."""
    parts: list[Part] = [
        message(
            "Someone, probably you, is creating an account for %(application)s with this"
            " email. To verify it, enter this code when you're asked for it:",
            context="mail",
            application=application,
        ),
        MessageCode(code),
        MessageLink(message("Or open this page in the same browser:", context="mail"), url),
        message(
            "The code is valid for %(n)s minute.",
            plural="The code is valid for %(n)s minutes.",
            context="mail",
            n=minutes,
        ),
        message(
            "If this wasn't you, ignore this email and don't share the code. Without it,"
            " no account is created.",
            context="mail",
        ),
    ]
    subject = message("Verify your email", context="mail")
    return messages.write(bundle, to, subject, parts, wording)


def account_exists(bundle: Bundle, to: str, application: str, sign_in_url: str) -> MailMessage:
    """Returns the mail to the address `to`, which was entered for a registration but has an
    account already: it links to the sign-in at `sign_in_url`. The pages of the registration do not
    reveal that."""
    parts: list[Part] = [
        message(
            "Someone, probably you, tried to create an account for %(application)s with"
            " this email. You already have one: sign in with this email and your password.",
            context="mail",
            application=application,
        ),
        MessageLink(message("Sign in using the same browser:", context="mail"), sign_in_url),
        message("If this wasn't you, ignore this email. Nothing was changed.", context="mail"),
    ]
    return messages.write(
        bundle, to, message("You already have an account", context="mail"), parts
    )
