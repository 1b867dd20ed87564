"""Codes to set a new password, which administrators request for a user. A code is valid once, for
one hour (24 hours for a first password), and only while password, e-mail address and security
stamp of the user stay the same."""

from __future__ import annotations

from datetime import timedelta
from typing import Final
from urllib.parse import urlsplit

from idp.foundation.i18n import message
from idp.identity.users import email_verification, reset_links
from idp.identity.users.email_verification import VerificationBegun
from idp.mail import messages
from idp.mail import wording as mail_wording
from idp.mail.messages import MailMessage, MessageCode, MessageLink
from idp.records import VERIFICATIONS, User
from idp.service import Service
from storage import Delete, Write

HOURS: Final = 1
FIRST_PASSWORD_HOURS: Final = 24


async def begin(
    service: Service, user: User, *, send: bool, url_template: str | None = None
) -> VerificationBegun:
    """Returns a new code, and the writes that make it valid, for the caller to commit; with
    `send`, they include the mail with it.

    The mail's link leads to the page of `url_template`, or to that of this service if it is None.
    Raises UrlTemplateRefused.
    """
    hours = HOURS if user.password else FIRST_PASSWORD_HOURS
    lifetime = timedelta(hours=hours)
    issue = reset_links.issue(user)
    code, insertion = email_verification.new_code(service, user, "password", issue, lifetime)
    key, insertion = reset_links.add_key(service, user, insertion)
    writes: list[Write] = [insertion]
    if send and user.email:
        url = reset_links.address(service.config, key)
        if url_template:
            url = email_verification.link(service.config, user, code, url_template)
        mail_message = await _mail_message(service, user, user.email.address, code, url, hours)
        writes.append(
            messages.posting(service, "reset_password", mail_message, user.id, org_id=user.org_id)
        )
    return VerificationBegun(code=code, writes=writes)


async def check(service: Service, user: User, code: str) -> Delete:
    """Checks a code, which must be the newest one of the user, and returns the write that uses it
    up, for the unit that stores the new password. Raises MailCodeRefused."""
    issue = reset_links.issue(user)
    verification = await email_verification.check_code(service, user, "password", issue, code)
    return Delete(VERIFICATIONS, verification.id)


async def _mail_message(
    service: Service, user: User, address: str, code: str, url: str, hours: int
) -> MailMessage:
    config = service.config
    bundle = messages.bundle_for(config, user.profile.preferred_language)
    return messages.write(
        bundle,
        address,
        message("Choose a new password", context="mail"),
        [
            message(
                "To choose a new password for your account at %(host)s, enter this code"
                " when you're asked for it:",
                context="mail",
                host=urlsplit(config.issuer).netloc,
            ),
            MessageCode(code),
            MessageLink(message("Or open this page:", context="mail"), url),
            message(
                "The code is valid for %(n)s hour.",
                plural="The code is valid for %(n)s hours.",
                context="mail",
                n=hours,
            ),
            message(
                "If you didn't request this, ignore this email and don't share the code.",
                context="mail",
            ),
        ],
        await mail_wording.wording(service, user.org_id, "passwordreset", bundle.tag),
        name=messages.greeted_name(user),
    )
