"""Mails about changes that affect the security of an account.

Each function returns the writes for the unit of the change: none if the user has no verified
address. No mail contains a code or a text that was typed.
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
    """Returns the writes of the message that the account has another password, for the unit that
    changes it."""
    subject = message("The password of your account was changed", context="mail")
    text = message(
        "Your account at %(host)s has a new password. Whoever was signed in to it has been signed"
        " out.",
        context="mail",
        host=_host(service),
    )
    return notification(
        service, user, "password_changed", subject, text, account(service), _NOT_YOU
    )


def locked(service: Service, user: User, seconds: int = 0) -> list[Write]:
    """Returns the writes of the message that the account is locked for `seconds`, or, if these are
    0, until an administrator unlocks it."""
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
    return notification(service, user, "account_locked", subject, text)


def email_changed(service: Service, user: User, new: Email | None) -> list[Write]:
    """Returns the writes of the message that the account's e-mail address was replaced by `new`,
    or removed if `new` is None; an empty list if the address is the same.

    The message is sent to the address in `user`, which is the record before the change.
    """
    if new is not None and user.email is not None and new.address == user.email.address:
        return []
    subject = message("The e-mail address of your account was changed", context="mail")
    text = message(
        "Your account at %(host)s has another e-mail address. No more mail about it comes here.",
        context="mail",
        host=_host(service),
    )
    return notification(service, user, "email_changed", subject, text, _NOT_YOU)


def notification(
    service: Service, user: User, kind: MailKind, subject: Message, *parts: Part
) -> list[Write]:
    """Returns the write that puts a mail of this kind, with this subject and these parts, into the
    outbox, to the user's verified address; none if there is no such address."""
    if user.email is None or not user.email.is_verified:
        return []
    bundle = messages.bundle_for(service.config, user.profile.preferred_language)
    mail_message = messages.write(bundle, user.email.address, subject, parts)
    return [messages.posting(service, kind, mail_message, user.id)]


def account(service: Service) -> MessageLink:
    """Returns the part of a mail that links to the page of the user's account."""
    return MessageLink(
        message("Your account:", context="mail"), f"{service.config.issuer}/ui/account"
    )


def _host(service: Service) -> str:
    return urlsplit(service.config.issuer).netloc
