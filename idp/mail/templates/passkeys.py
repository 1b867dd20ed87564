"""Mails about a passkey that was added to or removed from a user's account."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from idp.foundation.i18n import Message, message
from idp.mail.templates import security as security_messages
from idp.records import MailKind, User
from idp.service import Service
from storage import Write

_ADDED: Final = (
    message("A passkey was added to your account", context="mail"),
    message(
        "You, or someone who is signed in to your account, added a passkey to it.",
        context="mail",
    ),
)
_REMOVED: Final = (
    message("A passkey was removed from your account", context="mail"),
    message(
        "A passkey was removed from your account. It can no longer be used to sign in.",
        context="mail",
    ),
)
_WARNING: Final = message(
    "If this wasn't you, change your password now and remove the passkeys that aren't yours.",
    context="mail",
)


def added(service: Service, user: User) -> Sequence[Write]:
    """Returns the writes of the mail about a new passkey, for the caller to commit with the
    change; none if the user has no verified address."""
    return _notification(service, user, "passkey_added", *_ADDED)


def removed(service: Service, user: User) -> Sequence[Write]:
    """Returns the writes of the mail about a removed passkey, for the caller to commit with the
    change; none if the user has no verified address."""
    return _notification(service, user, "passkey_removed", *_REMOVED)


def _notification(
    service: Service, user: User, kind: MailKind, subject: Message, text: Message
) -> Sequence[Write]:
    account = security_messages.account(service)
    return security_messages.notification(service, user, kind, subject, text, account, _WARNING)
