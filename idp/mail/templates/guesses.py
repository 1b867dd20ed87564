"""Mails about guesses at a user's password and codes.

Each function returns the writes that store the message: none if the user has no verified address.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from idp.foundation.i18n import message
from idp.mail.messages import MessageLink
from idp.mail.templates import security as security_messages
from idp.records import User
from idp.service import Service
from storage import Write

_RESET_PAGE: Final = "/ui/reset"


def password_closed(service: Service, user: User) -> list[Write]:
    """Returns the writes of the message that because of many wrong passwords the password is
    accepted only in browsers in which the user has signed in before; the caller commits them."""
    subject = message("Many wrong passwords for your account", context="mail")
    text = message(
        "Many wrong passwords in a row were entered for your account at %(host)s. Until you have"
        " signed in again, your password is accepted only in browsers that you have used before.",
        context="mail",
        host=_host(service),
    )
    other_ways = message(
        "To sign in elsewhere, use a passkey, or choose a new password by “Forgot your"
        " password?”. If you did not enter these passwords, you need not do anything.",
        context="mail",
    )
    link = MessageLink(
        message("Choose a new password:", context="mail"), service.config.issuer + _RESET_PAGE
    )
    return security_messages.notification(
        service, user, "password_closed", subject, text, other_ways, link
    )


def wrong_codes(service: Service, user: User) -> list[Write]:
    """Returns the writes of the message that someone entered the right password and then wrong
    codes of the second factor; the caller commits them."""
    subject = message("Wrong codes for your account", context="mail")
    text = message(
        "Somebody entered the right password of your account at %(host)s, and then wrong codes of"
        " its authenticator app.",
        context="mail",
        host=_host(service),
    )
    warning = message(
        "If it was not you, somebody knows your password: choose another one now.",
        context="mail",
    )
    account = security_messages.account(service)
    return security_messages.notification(
        service, user, "wrong_codes", subject, text, warning, account
    )


def _host(service: Service) -> str:
    return urlsplit(service.config.issuer).netloc
