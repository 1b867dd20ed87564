"""Mails about changes that affect the security of an account.

Each function returns the writes for the unit of the change: none if the user has no verified
address. No mail contains a code or a text that a user entered.
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

NOT_YOU: Final = message(
    "If this wasn't you, contact support immediately.",
    context="mail",
)


def password_changed(service: Service, user: User) -> list[Write]:
    """Returns the writes of the message that the account has another password, for the unit that
    changes it."""
    subject = message("Your password was changed", context="mail")
    text = message(
        "Your account at %(host)s has a new password. You've been signed out everywhere else.",
        context="mail",
        host=_host(service),
    )
    return notification(
        service, user, "password_changed", subject, text, account(service), NOT_YOU
    )


def locked(service: Service, user: User, seconds: int = 0) -> list[Write]:
    """Returns the writes of the message that the account is locked for `seconds`, or, if these are
    0, until an administrator unlocks it."""
    subject = message("Your account was locked", context="mail")
    text = message(
        "Too many wrong passwords were entered for your account at %(host)s. It is locked"
        " until an administrator unlocks it.",
        context="mail",
        host=_host(service),
    )
    if seconds:
        text = message(
            "Too many wrong passwords were entered for your account at %(host)s. It is"
            " locked for %(n)s minute.",
            plural="Too many wrong passwords were entered for your account at %(host)s. It"
            " is locked for %(n)s minutes.",
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
    subject = message("The email of your account was changed", context="mail")
    text = message(
        "The email of your account at %(host)s was changed. We no longer send messages"
        " about it to this address.",
        context="mail",
        host=_host(service),
    )
    return notification(service, user, "email_changed", subject, text, NOT_YOU)


def notification(
    service: Service, user: User, kind: MailKind, subject: Message, *parts: Part
) -> list[Write]:
    """Returns the write that puts a mail of this kind, with this subject and these parts, into the
    outbox, to the user's verified address; none if there is no such address."""
    if user.email is None or not user.email.is_verified:
        return []
    bundle = messages.bundle_for(service.config, user.profile.preferred_language)
    mail_message = messages.write(
        bundle, user.email.address, subject, parts, name=messages.greeted_name(user)
    )
    return [messages.posting(service, kind, mail_message, user.id, org_id=user.org_id)]


def account(service: Service) -> MessageLink:
    """Returns the part of a mail that links to the page of the user's account."""
    return MessageLink(
        message("Your account:", context="mail"), f"{service.config.issuer}/ui/account"
    )


def _host(service: Service) -> str:
    return urlsplit(service.config.issuer).netloc
