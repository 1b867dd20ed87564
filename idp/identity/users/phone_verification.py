"""Verification of phone numbers by a code in a text message, as for e-mail addresses.

The operator's hook sends it (`idp.mail.sms_hook`); without one it is held in the outbox.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from msgspec import structs

from idp import changes
from idp.changes import Change
from idp.foundation.errors import NotFound
from idp.foundation.i18n import message
from idp.identity.users import email_verification
from idp.identity.users.email_verification import VerificationBegun
from idp.mail import messages
from idp.mail.messages import MailMessage, MessageCode
from idp.records import USERS, VERIFICATIONS, User, VerifiedBy
from idp.service import Service
from storage import Delete, Write


def begin_phone(
    service: Service, user: User, *, send: bool, by: VerifiedBy = "organization"
) -> VerificationBegun:
    """Returns a new code for the user's phone number; with `send`, its writes include the text
    message with the code.

    The user need not be stored yet. A code that is not sent verifies no phone number: the number
    is then verified by the party that `by` names. Raises NotFound if the user has no number.
    """
    if user.phone is None:
        raise NotFound("the user has no phone number")
    source: VerifiedBy = "mailbox" if send else by
    code, insertion = email_verification.new_code(
        service, user, "phone", user.phone.number, by=source
    )
    writes: list[Write] = [insertion]
    if send:
        mail_message = _mail_message(
            service, user.phone.number, code, user.profile.preferred_language
        )
        writes.append(
            messages.posting(service, "verify_phone", mail_message, user.id, org_id=user.org_id)
        )
    return VerificationBegun(code=code, writes=writes)


async def verify_phone(
    service: Service, user_id: str, code: str, checked_codes: set[tuple[str, str]], actor: str
) -> Change[User]:
    """Marks the user's number as verified by this code, in one unit with its event, and returns
    the changed user. A code is valid once.

    Raises MailCodeRefused, with the error codes of `email_verification.verify_email`; NotFound.
    """
    user = await service.store.get(USERS, user_id)
    if user is None:
        raise NotFound("there is no such user")
    number = user.phone.number if user.phone else None
    verification = await email_verification.check_code(
        service, user, "phone", number, code, checked_codes
    )
    by = verification.verified_by
    phone = structs.replace(user.phone, is_verified=True, verified_by=by) if user.phone else None
    update = changes.updated(
        service, changes.by(actor), USERS, user, {"phone": phone}, "user.phone_verified"
    )
    return Change(update.record, [*update.writes, Delete(VERIFICATIONS, verification.id)])


def _mail_message(service: Service, number: str, code: str, language: str | None) -> MailMessage:
    config = service.config
    return messages.write(
        messages.bundle_for(config, language),
        number,
        message("Verify your phone number", context="mail"),
        [
            message(
                "Use this code to verify your phone number at %(host)s. Don't share it:",
                context="mail",
                host=urlsplit(config.issuer).netloc,
            ),
            MessageCode(code),
        ],
    )
