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
    subject = message("Many wrong passwords were entered for your account", context="mail")
    text = message(
        "Many wrong passwords in a row were entered for your account at %(host)s. Until"
        " you sign in again, we accept your password only in browsers that you've used"
        " before.",
        context="mail",
        host=_host(service),
    )
    alternatives = message(
        "To sign in from another browser, use a passkey or choose a new password with"
        " “Forgot password?”. If you didn't enter these passwords, you don't have to do"
        " anything.",
        context="mail",
    )
    link = MessageLink(
        message("Choose a new password:", context="mail"), service.config.issuer + _RESET_PAGE
    )
    return security_messages.notification(
        service, user, "password_closed", subject, text, alternatives, link
    )


def wrong_codes(service: Service, user: User) -> list[Write]:
    """Returns the writes of the message that someone entered the right password and then wrong
    codes of the second factor; the caller commits them."""
    subject = message("Wrong codes were entered for your account", context="mail")
    text = message(
        "Someone entered the correct password for your account at %(host)s, but "
        "then entered wrong authenticator codes.",
        context="mail",
        host=_host(service),
    )
    warning = message(
        "If this wasn't you, someone knows your password. Choose a new one now.",
        context="mail",
    )
    account = security_messages.account(service)
    return security_messages.notification(
        service, user, "wrong_codes", subject, text, warning, account
    )


def codes_closed(service: Service, user: User) -> list[Write]:
    """Returns the writes of the message that because of many wrong codes for a new password these
    codes are accepted only in browsers in which the user has signed in before; the caller commits
    them."""
    subject = message("Wrong codes were entered for your account", context="mail")
    text = message(
        "Many wrong password reset codes were entered for your account at "
        "%(host)s. We now accept these codes only in browsers that you've used "
        "before.",
        context="mail",
        host=_host(service),
    )
    alternatives = message(
        "To choose a new password from another browser, open the link in such an email. If you"
        " didn't request these emails, you don't have to do anything.",
        context="mail",
    )
    return security_messages.notification(
        service, user, "codes_closed", subject, text, alternatives
    )


def _host(service: Service) -> str:
    return urlsplit(service.config.issuer).netloc
