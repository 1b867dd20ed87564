"""Codes by which a password is set anew: one counts once, for an hour or a day, and as long as
the password, the e-mail address and what was issued to the user are as they were."""

from __future__ import annotations

from datetime import timedelta
from typing import Final
from urllib.parse import urlsplit

from idp import mail
from idp.i18n import message
from idp.identity import verifications
from idp.identity.verifications import Begun
from idp.mail import Code, Letter, Link
from idp.policies import letters
from idp.records import User
from idp.service import Service
from storage import Delete, Write

HOURS: Final = 1
HOURS_FOR_THE_FIRST: Final = 24


async def begin(
    service: Service, user: User, *, send: bool, url_template: str | None = None
) -> Begun:
    """A code; with `send`, the mail that brings it, which leads to the template's page if there
    is one. Raises UrlTemplateRefused."""
    hours = HOURS if user.password else HOURS_FOR_THE_FIRST
    lasts = timedelta(hours=hours)
    code, made = verifications.new_code(service, user, "password", _issue(user), lasts)
    writes: list[Write] = [made]
    if send and user.email:
        letter = await _letter(service, user, user.email.address, code, url_template, hours)
        writes.append(mail.posting(service, "reset_password", letter, user.id))
    return Begun(code=code, writes=writes)


async def check(service: Service, user: User, code: str) -> Delete:
    """The write that spends the newest code. Raises CodeRefused."""
    return await verifications.check_code(service, user, "password", _issue(user), code)


def _issue(user: User) -> str:
    """What a code counts for; a new stamp, as a new password brings one, ends it."""
    return f"{user.stamp}\n{user.email.address if user.email else ''}"


async def _letter(
    service: Service, user: User, address: str, code: str, template: str | None, hours: int
) -> Letter:
    config, label = service.config, message("Or open this page:", context="mail")
    url = verifications.link(config, user, code, template) if template else None
    bundle = mail.bundle_for(config, user.profile.preferred_language)
    return mail.write(
        bundle,
        address,
        message("Choose a new password", context="mail"),
        [
            message(
                "A new password can be chosen for your account at %(host)s. To do so, type this"
                " code where you are asked for it:",
                context="mail",
                host=urlsplit(config.issuer).netloc,
            ),
            Code(code),
            *([Link(label, url)] if url else []),
            message(
                "The code counts for %(n)s hour.",
                plural="The code counts for %(n)s hours.",
                context="mail",
                n=hours,
            ),
            message(
                "If you know nothing of this, do nothing, and give the code to nobody.",
                context="mail",
            ),
        ],
        await letters.wording(service, user.org_id, "passwordreset", bundle.tag),
    )
