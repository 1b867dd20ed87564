"""What people are told by mail when something changes that guards their account.

Each function gives the writes for the unit of the change: none where the person has no proven
address. No letter holds a code, or anything that somebody typed.
"""

from __future__ import annotations

import math
from typing import Final
from urllib.parse import urlsplit

from idp.foundation.i18n import Message, message
from idp.mail import messages
from idp.mail.messages import MessageLink, Part
from idp.records import Email, MailKind, User
from idp.service import Service
from storage import Write

_NOT_YOU: Final = message(
    "If you know nothing of this, tell whoever manages the accounts there at once.",
    context="mail",
)


def password_changed(service: Service, user: User) -> list[Write]:
    """That the account has another password, whoever set it."""
    subject = message("The password of your account was changed", context="mail")
    text = message(
        "Your account at %(host)s has a new password. Whoever was signed in to it has been signed"
        " out.",
        context="mail",
        host=_host(service),
    )
    return told(service, user, "password_changed", subject, text, account(service), _NOT_YOU)


def locked(service: Service, user: User, seconds: int = 0) -> list[Write]:
    """That nobody can sign in any more, or for so many seconds, after too many wrong passwords."""
    subject = message("Your account was locked", context="mail")
    text = message(
        "Too many wrong passwords were entered for your account at %(host)s. Nobody can sign in to"
        " it now, until whoever manages the accounts there unlocks it.",
        context="mail",
        host=_host(service),
    )
    if seconds:
        text = message(
            "Too many wrong passwords were entered for your account at %(host)s. Nobody can sign"
            " in to it for %(n)s minute.",
            plural="Too many wrong passwords were entered for your account at %(host)s. Nobody can"
            " sign in to it for %(n)s minutes.",
            context="mail",
            host=_host(service),
            n=math.ceil(seconds / 60),
        )
    return told(service, user, "account_locked", subject, text)


def email_changed(service: Service, user: User, new: Email | None) -> list[Write]:
    """That the account has another address. `user` is as it was: its address is told."""
    if new is not None and user.email is not None and new.address == user.email.address:
        return []
    subject = message("The e-mail address of your account was changed", context="mail")
    text = message(
        "Your account at %(host)s has another e-mail address. No more mail about it comes here.",
        context="mail",
        host=_host(service),
    )
    return told(service, user, "email_changed", subject, text, _NOT_YOU)


def told(
    service: Service, user: User, kind: MailKind, subject: Message, *parts: Part
) -> list[Write]:
    """The letter, to the address that the person has proven; nothing where there is none."""
    if user.email is None or not user.email.is_verified:
        return []
    bundle = messages.bundle_for(service.config, user.profile.preferred_language)
    letter = messages.write(bundle, user.email.address, subject, parts)
    return [messages.posting(service, kind, letter, user.id)]


def account(service: Service) -> MessageLink:
    """The page of the person's own account."""
    return MessageLink(
        message("Your account:", context="mail"), f"{service.config.issuer}/ui/account"
    )


def _host(service: Service) -> str:
    return urlsplit(service.config.issuer).netloc
