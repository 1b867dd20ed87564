"""Calls that set a person's e-mail address and phone number, and send new codes to verify them."""

from __future__ import annotations

from typing import ClassVar, Final

from msgspec import structs

from idp import changes
from idp.changes import Change
from idp.foundation.errors import FailedPrecondition, InvalidArgument, PermissionDenied
from idp.identity.users import email_verification, phone_verification, verified_contacts
from idp.identity.users.creation import Paths
from idp.identity.users.email_verification import VerificationBegun
from idp.mail import messages
from idp.mail.messages import DeliveryStatus
from idp.mail.templates import security as security_messages
from idp.management.call import Call
from idp.management.users import mail_url_templates, manageable, protected_addresses
from idp.management.users import update as user_update
from idp.management.users.new_user import Empty, NewEmail, NewPhone, SendEmail
from idp.records import USERS, Email, Phone, User
from idp.schema import answers
from idp.schema.answers import Answer, Changed, Details
from idp.schema.reading import Request
from idp.service import Service
from idp.upstream import links

_PATHS: Final = Paths(user_name="email", email="email")
_NO_VERIFICATION: Final = VerificationBegun(code="", writes=[])


class EmailCode(Request, frozen=True, kw_only=True):
    """How the code is delivered. Without either member, it is sent."""

    one_of: ClassVar[tuple[tuple[str, ...], ...]] = (("send_code", "return_code"),)

    send_code: SendEmail | None = None
    return_code: Empty | None = None


class PhoneCode(Request, frozen=True, kw_only=True):
    """How the code is delivered. Without either member, it is sent."""

    one_of: ClassVar[tuple[tuple[str, ...], ...]] = (("send_code", "return_code"),)

    send_code: Empty | None = None
    return_code: Empty | None = None


class ContactChanged(Answer, frozen=True, kw_only=True):
    """The code is present if the caller requested it. `mail` is the delivery status of the
    message.
    """

    details: Details
    verification_code: str = ""
    mail: DeliveryStatus = ""


async def set_email(
    service: Service, call: Call, user_id: str, request: NewEmail
) -> Change[ContactChanged]:
    """Gives a person another e-mail address, and informs the earlier address by mail.

    The new address has to be verified by a code unless the request declares it verified. Raises
    NotFound, FailedPrecondition (the user is a service user), PermissionDenied (callers may not
    declare their own address verified, nor take over the address by which a user with more rights
    signs in), InvalidArgument (the template), Taken, Busy.
    """
    _refuse_own(call, user_id, request.is_verified)
    person = await manageable.find_person(service, call, user_id)
    await _check_template(service, person, request.send_code)
    email = verified_contacts.email(
        request.email, call.verified_by, is_verified=request.is_verified
    )
    # The code and the checks concern the person as the change will leave them.
    changed, verification = structs.replace(person, email=email), _NO_VERIFICATION
    # With either of these, the caller can verify the address without access to its mailbox.
    if request.is_verified or request.return_code is not None:
        await protected_addresses.check(service, call, changed)
    if not request.is_verified:
        verification = await _email_code(
            service, call, changed, request.send_code, request.return_code
        )
    values = {"email": _email(person.email, email)}
    update = await user_update.updated(service, call, person, values, _PATHS, "user.email_changed")
    has_code = request.return_code is not None
    answer = _answer(update.details, verification, has_code=has_code)
    notices = security_messages.email_changed(service, person, email) if update.writes else []
    return Change(answer, [*update.writes, *verification.writes, *notices])


async def resend_email(
    service: Service, call: Call, user_id: str, request: EmailCode
) -> Change[ContactChanged]:
    """Creates another code to verify a person's e-mail address; earlier ones become invalid.

    Raises NotFound, PermissionDenied, InvalidArgument (the template), FailedPrecondition (the user
    is a service user, or has no address to verify).
    """
    user = await manageable.find_person(service, call, user_id)
    await _check_template(service, user, request.send_code)
    if user.email is None or user.email.is_verified_everywhere:
        raise FailedPrecondition(
            "no email address is waiting for verification", error_code="email.not_waiting"
        )
    if request.return_code is not None:
        await protected_addresses.check(service, call, user)
    verification = await _email_code(service, call, user, request.send_code, request.return_code)
    answer = _answer(
        answers.details(user, user.org_id),
        verification,
        has_code=request.return_code is not None,
    )
    return Change(answer, verification.writes)


async def set_phone(
    service: Service, call: Call, user_id: str, request: NewPhone
) -> Change[ContactChanged]:
    """Gives a person another phone number.

    It has to be verified by a code unless the request declares it verified. Raises NotFound,
    FailedPrecondition (the user is a service user), PermissionDenied (callers may not declare
    their own number verified).
    """
    _refuse_own(call, user_id, request.is_verified)
    person = await manageable.find_person(service, call, user_id)
    phone = verified_contacts.phone(
        request.phone, call.verified_by, is_verified=request.is_verified
    )
    verification = _NO_VERIFICATION
    if not request.is_verified:
        verification = phone_verification.begin_phone(
            service,
            structs.replace(person, phone=phone),
            send=request.return_code is None,
            by=call.verified_by,
        )
    values = {"phone": _phone(person.phone, phone)}
    update = changes.updated(service, call, USERS, person, values, "user.phone_changed")
    has_code = request.return_code is not None
    answer = _answer(update.details, verification, has_code=has_code)
    return Change(answer, [*update.writes, *verification.writes])


async def resend_phone(
    service: Service, call: Call, user_id: str, request: PhoneCode
) -> Change[ContactChanged]:
    """Creates another code to verify a person's phone number; earlier ones become invalid.

    Raises NotFound, PermissionDenied, FailedPrecondition (the user is a service user, or has no
    number to verify).
    """
    user = await manageable.find_person(service, call, user_id)
    if user.phone is None or user.phone.is_verified_everywhere:
        raise FailedPrecondition(
            "no phone number is waiting for verification", error_code="phone.not_waiting"
        )
    send = request.return_code is None
    verification = phone_verification.begin_phone(service, user, send=send, by=call.verified_by)
    answer = _answer(answers.details(user, user.org_id), verification, has_code=not send)
    return Change(answer, verification.writes)


async def remove_phone(service: Service, call: Call, user_id: str) -> Change[Changed]:
    """Removes a person's phone number.

    Raises NotFound, PermissionDenied, FailedPrecondition (the user is a service user, or has no
    phone number).
    """
    user = await manageable.find_person(service, call, user_id)
    if user.phone is None:
        raise FailedPrecondition("the user has no phone number", error_code="phone.missing")
    return changes.updated(
        service, call, USERS, user, {"phone": None}, "user.phone_removed"
    ).change()


def _email(stored: Email | None, sent: Email) -> Email:
    """Returns the address to store: the one that was sent, or the stored one if it is the same and
    was verified in a stronger way."""
    # A verification that is valid everywhere is not replaced by the organization's own.
    is_same = stored is not None and stored.address == sent.address
    return (
        verified_contacts.merged(stored, sent) if stored and is_same and sent.is_verified else sent
    )


def _phone(stored: Phone | None, sent: Phone) -> Phone:
    is_same = stored is not None and stored.number == sent.number
    return (
        verified_contacts.merged(stored, sent) if stored and is_same and sent.is_verified else sent
    )


async def _email_code(
    service: Service, call: Call, user: User, send: SendEmail | None, return_code: Empty | None
) -> VerificationBegun:
    # A user may have mistyped the address, and another provider may have stated anyone's. Only
    # users without a password are invited.
    may_invite = user.password is None and user.id != call.caller.id
    return await email_verification.begin_email(
        service,
        user,
        send=return_code is None,
        url_template=send.url_template if send else None,
        by=call.verified_by,
        may_invite=may_invite and not await links.is_linked(service, user.id),
    )


async def _check_template(service: Service, user: User, send: SendEmail | None) -> None:
    template = send.url_template if send else None
    problems = await mail_url_templates.problems(
        service, user.org_id, template, "sendCode.urlTemplate"
    )
    if problems:
        raise InvalidArgument(problems)


def _refuse_own(call: Call, user_id: str, is_verified: bool) -> None:
    # A caller's own address is verified by the code alone.
    if is_verified and user_id == call.caller.id:
        message = "callers can't mark their own contact as verified: verify it with the code"
        raise PermissionDenied(message, error_code="user.proves_itself", field="isVerified")


def _answer(
    details: Details, verification: VerificationBegun, *, has_code: bool
) -> ContactChanged:
    return ContactChanged(
        details=details,
        verification_code=verification.code if has_code else "",
        mail=messages.delivery_status(verification.writes),
    )
