"""One mail of every kind, in a language, as the service would send it to a user."""

from __future__ import annotations

from types import SimpleNamespace
from typing import get_args

from msgspec import structs

from idp.foundation.i18n import load
from idp.identity.users import email_verification, reset_codes
from idp.mail import messages
from idp.mail.messages import Wording
from idp.mail.templates import connections, factors, guesses, passkeys, registration, security
from idp.records import Email, MailKind
from idp.records.mail import OutboxMessage

ADDRESS = "nora@example.com"
KINDS = sorted(set(get_args(MailKind)) - messages.TEXT_MESSAGES)
CONNECTION = SimpleNamespace(id="connection-1", org_id=None)
FACTORS = ("factor_added", "factor_removed", "recovery_codes_made", "recovery_code_used")


async def every_mail(service, user, language):
    """The opened message of each kind to a user with a password, by its kind."""
    bundle = load(language)
    user = structs.replace(
        user,
        email=Email(address=ADDRESS, is_verified=True),
        profile=structs.replace(user.profile, preferred_language=language),
    )
    invited = structs.replace(user, password=None)
    url = f"{service.config.issuer}/ui/login/verify-email?code=12345678"
    writes = [
        *security.password_changed(service, user),
        *security.locked(service, user, 600),
        *security.email_changed(service, user, None),
        *guesses.password_closed(service, user),
        *guesses.wrong_codes(service, user),
        *guesses.codes_closed(service, user),
        *connections.trust_changed(service, user, CONNECTION),
        *connections.linked(service, user),
        *connections.unlinked(service, user),
        *passkeys.added(service, user),
        *passkeys.removed(service, user),
        *(write for kind in FACTORS for write in factors.notification(service, user, kind)),
        *(await email_verification.begin_email(service, user, send=True)).writes,
        *(await email_verification.begin_email(service, invited, send=True)).writes,
        *(await reset_codes.begin(service, user, send=True)).writes,
    ]
    mails = [write.record for write in writes if isinstance(write.record, OutboxMessage)]
    opened = {mail.kind: messages.opened(service, mail) for mail in mails}
    wording = Wording()
    return opened | {
        "register": registration.with_code(bundle, ADDRESS, "Shop", "12345678", url, 15, wording),
        "account_exists": registration.account_exists(bundle, ADDRESS, "Shop", url),
    }
