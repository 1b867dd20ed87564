"""Calls that invite a person without a password: a code, and a mail with a link to set the
first one."""

from __future__ import annotations

from typing import ClassVar, Final

from idp.changes import Change
from idp.foundation.errors import FailedPrecondition, InvalidArgument
from idp.identity.users import email_verification, reset_codes
from idp.identity.users.email_verification import VerificationBegun
from idp.mail import messages
from idp.mail.messages import DeliveryStatus
from idp.management.call import Call
from idp.management.users import mail_url_templates, manageable
from idp.management.users.new_user import Empty
from idp.records import User
from idp.schema import answers
from idp.schema.answers import Answer, Details
from idp.schema.field_rules import Name
from idp.schema.reading import Request
from idp.service import Service
from idp.upstream import links

_PATH: Final = "sendCode.urlTemplate"


class SendInvitation(Request, frozen=True, kw_only=True):
    """`url_template` is the address of a page to which the mail links; the page receives the code,
    and sets the password with it. Without one, the mail links to the page of this service.
    """

    url_template: Name | None = None


class Invite(Request, frozen=True, kw_only=True):
    """How the code is delivered. Without either member, a mail is sent."""

    one_of: ClassVar[tuple[tuple[str, ...], ...]] = (("send_code", "return_code"),)

    send_code: SendInvitation | None = None
    return_code: Empty | None = None


class Invited(Answer, frozen=True, kw_only=True):
    """The code is present if the caller requested it. `mail` is the delivery status of the
    message.
    """

    details: Details
    invite_code: str = ""
    mail: DeliveryStatus = ""


async def invite(service: Service, call: Call, user_id: str, request: Invite) -> Change[Invited]:
    """Invites a person to choose their first password, by a code that is mailed or returned.

    Raises NotFound, PermissionDenied, InvalidArgument (the template), FailedPrecondition (the user
    is a service user, has a password, or has no address that an invitation may be sent to).
    """
    user = await manageable.find_person(service, call, user_id)
    template = request.send_code.url_template if request.send_code else None
    problems = await mail_url_templates.problems(service, user.org_id, template, _PATH)
    if problems:
        raise InvalidArgument(problems)
    if user.email is None:
        raise FailedPrecondition("the user has no email address", error_code="email.missing")
    if user.password is not None:
        raise FailedPrecondition("the user has a password", error_code="user.has_password")
    send = request.return_code is None
    if send and not user.email.is_verified and await links.is_linked(service, user.id):
        # The address may be one that another provider stated, of anyone's mailbox.
        message = "the user is linked, and has no verified email address: send returnCode instead"
        raise FailedPrecondition(message, error_code="email.not_verified")
    verification = await _begin_verification(service, user, template, send=send)
    answer = Invited(
        details=answers.details(user, user.org_id),
        invite_code="" if send else verification.code,
        mail=messages.delivery_status(verification.writes),
    )
    return Change(answer, verification.writes)


async def resend(service: Service, call: Call, user_id: str, request: Invite) -> Change[Invited]:
    """Invites a person once more; earlier codes become invalid. Raises what `invite` raises."""
    return await invite(service, call, user_id, request)


async def _begin_verification(
    service: Service, user: User, template: str | None, *, send: bool
) -> VerificationBegun:
    """Returns the code for the first password, with the writes that store it.

    If the address is not verified, the link of the mail leads to a page of this service and
    verifies the address, too.
    """
    # With a template, the caller's page handles the code, which is then one for the password.
    is_verified = user.email is not None and user.email.is_verified
    if send and template is None and not is_verified:
        return await email_verification.begin_email(service, user, send=True)
    return await reset_codes.begin(service, user, send=send, url_template=template)
