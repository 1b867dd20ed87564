"""Calls that set a person's password, or create a code by which it can be set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar, Final, Literal

from idp import changes
from idp.changes import Change
from idp.foundation.errors import Busy, FailedPrecondition, FieldProblem, InvalidArgument, NotFound
from idp.identity.factors.mail_codes import MailCodeRefused
from idp.identity.guesses import counter_resets
from idp.identity.sessions import lifetime as session_lifetime
from idp.identity.sessions import password_check
from idp.identity.users import lookup as user_lookup
from idp.identity.users import password_acceptance, password_change, reset_codes
from idp.identity.users.subjects import Subject
from idp.limits.origin import AttemptOrigin
from idp.mail import messages
from idp.mail.messages import DeliveryStatus
from idp.mail.templates import security as security_messages
from idp.management.call import Call
from idp.management.users import mail_url_templates, manageable
from idp.management.users.new_user import Empty, NewPassword
from idp.management.users.person_fields import password_problems
from idp.records import USERS, User
from idp.schema import answers
from idp.schema.answers import Answer, Changed, Details
from idp.schema.field_rules import Name
from idp.schema.field_rules import Password as PasswordText
from idp.schema.reading import Request
from idp.service import Service
from storage import Write

_PASSWORD: Final = "newPassword.password"  # noqa: S105 - a path
_CHANGED: Final = "user.password_changed"


class SetPassword(Request, frozen=True, kw_only=True):
    """A new password. The current password or a code is checked if it is sent."""

    one_of: ClassVar[tuple[tuple[str, ...], ...]] = (("current_password", "verification_code"),)

    new_password: NewPassword
    current_password: PasswordText | None = None
    verification_code: Name | None = None


class SendLink(Request, frozen=True, kw_only=True):
    """`url_template` is the address of a page to which the mail links; the page receives the code,
    and sets the password with it. Without one, the mail links to the page of this service.
    """

    url_template: Name | None = None
    notification_type: Literal["NOTIFICATION_TYPE_UNSPECIFIED", "NOTIFICATION_TYPE_EMAIL"] = (
        "NOTIFICATION_TYPE_UNSPECIFIED"
    )


class ResetPassword(Request, frozen=True, kw_only=True):
    """How the code is delivered. Without either member, it is sent."""

    one_of: ClassVar[tuple[tuple[str, ...], ...]] = (("send_link", "return_code"),)

    send_link: SendLink | None = None
    return_code: Empty | None = None


class ResetBegun(Answer, frozen=True, kw_only=True):
    """The code is present if the caller requested it. `mail` is the delivery status of the
    message.
    """

    details: Details
    verification_code: str = ""
    mail: DeliveryStatus = ""


async def set_password(
    service: Service, call: Call, user_id: str, request: SetPassword
) -> Change[Changed]:
    """Gives a person a new password, which ends all their sessions and tokens.

    Raises NotFound, FailedPrecondition (the user is a service user), PermissionDenied,
    InvalidArgument (the policy, the current password or the code), Throttled, HashingBusy, Busy.
    """
    subject = await _subject(service, call, user_id)
    text = request.new_password.password
    problems = await password_change.initial_problems(service, subject, text)
    if problems:
        raise InvalidArgument(password_problems(_PASSWORD, problems))
    verification = await _verification_writes(service, call, subject.user, request)
    # After all checks, because hashing is expensive.
    must_change = request.new_password.change_required
    password = await password_acceptance.hashed(
        service, subject.user.org_id, text, must_change=must_change
    )

    async def plan() -> Change[Changed]:
        current = await _subject(service, call, user_id)
        if current.user.stamp != subject.user.stamp:  # the checked password may have been replaced
            raise Busy("the user was changed concurrently", retry_after_seconds=1)
        # Sessions and tokens contain the stamp of the time they were issued.
        values = {"password": password, "stamp": service.random.token(bits=64)}
        update = changes.updated(service, call, USERS, current.user, values, _CHANGED)
        change = update.change(
            *verification,
            *await session_lifetime.logout_messages_of_all(service, current),
            *security_messages.password_changed(service, current.user),
            *password_change.forget_first_password(
                service, current.instance, user_id, actor=call.actor, now=service.clock.now()
            ),
            afterwards=[partial(counter_resets.forget, service, subject)],
        )
        return replace(change, replan=plan)

    return await plan()


async def reset_password(
    service: Service, call: Call, user_id: str, request: ResetPassword
) -> Change[ResetBegun]:
    """Creates a code by which a person's password can be set, and either mails or returns it.

    No session or token ends. Raises NotFound, PermissionDenied, InvalidArgument (the template),
    FailedPrecondition (the user is a service user, or has no verified address to mail to).
    """
    user = await manageable.find_person(service, call, user_id)
    link = request.send_link
    template = link.url_template if link else None
    problems = await mail_url_templates.problems(
        service, user.org_id, template, "sendLink.urlTemplate"
    )
    if problems:
        raise InvalidArgument(problems)
    send = request.return_code is None
    if send and not (user.email and user.email.is_verified):
        message = "the user has no verified email address: send returnCode instead"
        raise FailedPrecondition(message, error_code="email.not_verified")
    reset = await reset_codes.begin(service, user, send=send, url_template=template)
    answer = ResetBegun(
        details=answers.details(user, user.org_id),
        verification_code="" if send else reset.code,
        mail=messages.delivery_status(reset.writes),
    )
    return Change(answer, reset.writes)


async def _subject(service: Service, call: Call, user_id: str) -> Subject:
    user = await manageable.find_person(service, call, user_id)
    subject = await user_lookup.subject_of(service, user)
    if subject is None:
        raise NotFound("there is no such user", error_code="user.not_found")
    return subject


async def _verification_writes(
    service: Service, call: Call, user: User, request: SetPassword
) -> Sequence[Write]:
    """Checks the current password or the code, if the request contains one, and returns the writes
    that use up the code.

    Raises InvalidArgument, Throttled.
    """
    if request.current_password is not None:
        await _check_current(service, call, user, request.current_password)
    if request.verification_code is None:
        return ()
    try:
        return [await reset_codes.check(service, user, request.verification_code)]
    except MailCodeRefused as refused:
        raise _refused("verificationCode", refused.error_code, refused.message) from refused


async def _check_current(service: Service, call: Call, user: User, password: str) -> None:
    """Checks the person's current password. It counts as an attempt from an unknown browser, with
    the caller in place of a network, so that no other user's attempts are limited by it."""
    try:
        origin = AttemptOrigin(f"api:{call.actor}")
        checked = await password_check.check_current(service, user, password, origin)
    except password_check.SignInRefused:
        message = "is not the user's password"
        raise _refused("currentPassword", "password.wrong", message) from None
    await password_check.succeeded(service, checked)


def _refused(path: str, error_code: str, message: str) -> InvalidArgument:
    return InvalidArgument([FieldProblem(error_code, path, message)])
