"""Verification of a user's e-mail address or phone number by the code that was sent there."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Final

from idp.changes import Change
from idp.foundation.errors import FieldProblem, InvalidArgument
from idp.identity.factors.mail_codes import MailCodeRefused
from idp.identity.users.email_verification import verify_email
from idp.identity.users.phone_verification import verify_phone
from idp.management.call import Call
from idp.management.users import manageable
from idp.records import User
from idp.schema import answers
from idp.schema.answers import Answer, Details
from idp.schema.field_rules import Name
from idp.schema.reading import Request
from idp.service import Service

_VERIFIERS: Final[Mapping[str, Callable[..., Awaitable[Change[User]]]]] = {
    "email": verify_email,
    "phone": verify_phone,
}


class VerificationCode(Request, frozen=True, kw_only=True):
    verification_code: Name


class ContactVerified(Answer, frozen=True, kw_only=True):
    details: Details


async def verify(
    service: Service, call: Call, user_id: str, request: VerificationCode, contact: str
) -> Change[ContactVerified]:
    """Verifies a user's e-mail address or phone number by the code that was sent there; `contact`
    is `email` or `phone`.

    Raises NotFound; PermissionDenied; InvalidArgument if the code is wrong or expired; AddressHeld
    if a user of another organization signs in with the address.
    """
    user, checked_codes = await manageable.find(service, call, user_id), set[tuple[str, str]]()

    async def plan() -> Change[ContactVerified]:
        try:
            verification = await _VERIFIERS[contact](
                service, user.id, request.verification_code, checked_codes, call.actor
            )
        except MailCodeRefused as refused:
            problem = FieldProblem(refused.error_code, "verificationCode", refused.message)
            raise InvalidArgument([problem]) from refused
        return replace(verification.map(_answer), replan=plan)

    return await plan()


def _answer(user: User) -> ContactVerified:
    return ContactVerified(details=answers.details(user, user.org_id))
