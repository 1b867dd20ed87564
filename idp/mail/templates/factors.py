"""Mails about a user's second factors: added, removed, or used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from idp.foundation.i18n import Message, message
from idp.mail.templates import security as security_messages
from idp.records import MailKind, User
from idp.service import Service
from storage import Write

_TEXTS: Final[Mapping[MailKind, tuple[Message, Message]]] = {
    "factor_added": (
        message("An authenticator app was added to your account", context="mail"),
        message(
            "From now on, we ask for a code from your authenticator app when you sign in."
            " You've been signed out everywhere else.",
            context="mail",
        ),
    ),
    "factor_removed": (
        message("An authenticator app was removed from your account", context="mail"),
        message(
            "We no longer ask for codes from an authenticator app when you sign in.",
            context="mail",
        ),
    ),
    "recovery_codes_made": (
        message("New recovery codes were generated for your account", context="mail"),
        message("Your old recovery codes are no longer valid.", context="mail"),
    ),
    "recovery_code_used": (
        message("A recovery code was used for your account", context="mail"),
        message(
            "Someone, probably you, signed in with your password and a recovery code. That"
            " code can't be used again.",
            context="mail",
        ),
    ),
}
_WARNING: Final = message(
    "If this wasn't you, change your password now and contact support.",
    context="mail",
)


def notification(service: Service, user: User, kind: MailKind) -> list[Write]:
    """Returns the writes that put the mail of this kind to the user into the outbox, for the
    caller to commit with the change; none if the user has no verified address."""
    subject, text = _TEXTS[kind]
    account = security_messages.account(service)
    return security_messages.notification(service, user, kind, subject, text, account, _WARNING)
