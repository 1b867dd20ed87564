"""The reset of a forgotten password within a sign-in: the account, the mailed code, a new
password.

No page shows whether there is an account: the flow waits for a code in any case, and without an
account no code is right.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

from idp import changes
from idp.identity.factors import mail_codes
from idp.identity.factors.mail_codes import MailCodeRefused
from idp.identity.guesses import account_names, lock_ends, mail_limits, mailed_codes
from idp.identity.sessions import known_browsers
from idp.identity.users import email_verification, reset_links
from idp.identity.users import lookup as user_lookup
from idp.identity.users.lookup import login_key
from idp.identity.users.subjects import Subject, is_active
from idp.limits.origin import AttemptOrigin
from idp.limits.throttled import Throttled
from idp.mail import messages
from idp.mail.templates import password_reset as reset_messages
from idp.mail.wording import wording
from idp.oauth.sign_in import authentication_progress, first_party_areas, page_branding
from idp.oauth.sign_in import flow as sign_in_flow
from idp.oauth.sign_in import pending as sign_in_pending
from idp.oauth.sign_in.authentication_progress import AuthenticationProgress
from idp.oauth.sign_in.pending import PendingSignIn
from idp.records import (
    AUTH_REQUESTS,
    INSTANCE_ID,
    INSTANCES,
    ORGANIZATIONS,
    USERS,
    VERIFICATIONS,
    AuthRequest,
    User,
    Verification,
)
from idp.service import Service
from idp.upstream import links
from storage import Insert, Stale, Write

CODE_MINUTES: Final = 10
LINK_MINUTES: Final = 60
_CODE_LIFETIME: Final = timedelta(minutes=CODE_MINUTES)
_NO_USER: Final = ""
_UNDELIVERABLE: Final = "nobody@invalid"


class ResetState(Struct, frozen=True):
    """The sender of a request for a code, the language of the mail, and the query of the mail's
    link."""

    origin: AttemptOrigin
    language: str
    query: dict[str, str]


async def is_offered(service: Service, flow: PendingSignIn) -> bool:
    """Returns whether the pages of this sign-in have a link for a forgotten password."""
    rules = await flow.known_records.login_rules(service, flow.client.org_id)
    return not rules.hide_password_reset


async def find(service: Service, flow: PendingSignIn) -> Verification | None:
    """Returns the record of the reset that the flow waits for; None if it was used or is not
    valid."""
    id = flow.request.reset_id
    return await service.store.get(VERIFICATIONS, id) if id else None


async def begin(service: Service, flow: PendingSignIn, login_name: str, state: ResetState) -> None:
    """Starts a reset in the flow, and mails a code to the account of this login name, if there is
    one.

    The same form sent again within a moment causes no second mail. Raises `Throttled`; `Stale`
    when something else happened in the flow at the same moment.
    """
    request = flow.request
    if request.login_name == login_name and _is_recent(service, request):
        return
    await _request(service, flow, login_name, state)


def _is_recent(service: Service, request: AuthRequest) -> bool:
    sent_at = request.reset_sent_at if request.reset_id else None
    return sent_at is not None and mail_limits.wait_seconds(service, sent_at) > 0


async def resend(service: Service, flow: PendingSignIn, state: ResetState) -> None:
    """Mails another code to the account of the reset; the previous one is no longer valid.

    Raises `Throttled`, also for a second request within a moment, and `Stale`.
    """
    request = flow.request
    if request.reset_id is None or request.reset_sent_at is None or request.login_name is None:
        raise Stale(AUTH_REQUESTS.name, request.id)
    mail_limits.refuse_too_soon(service, request.reset_sent_at)
    await _request(service, flow, request.login_name, state)


async def _request(
    service: Service, flow: PendingSignIn, login_name: str, state: ResetState
) -> None:
    """Sends a code, if the limits admit it, and lets the flow wait. Raises Throttled, Stale."""
    mail_limits.refuse_flood(service, state.origin)
    user = await _find_user(service, flow, login_name)
    await mail_limits.admit_from_network(
        service,
        f"name:{login_key(login_name)}",
        state.origin,
        is_known=_is_known(flow, user),
    )
    writes = await _request_writes(service, flow, user, login_name, state)
    await sign_in_pending.commit(service, flow, *writes)


async def _find_user(service: Service, flow: PendingSignIn, login_name: str) -> User | None:
    org_id = page_branding.sign_in_org_id(service, flow.request, flow.client)
    user = await user_lookup.find_by_login_name(service, login_name, org_id)
    # An expired lock must not prevent the reset.
    user = await lock_ends.lift_if_over(service, user) if user else None
    subject = await _reachable(service, flow, user)
    return subject.user if subject else None


def _is_known(flow: PendingSignIn, user: User | None) -> bool:
    return user is not None and known_browsers.is_known(flow.browser, user)


async def _request_writes(
    service: Service, flow: PendingSignIn, user: User | None, login_name: str, state: ResetState
) -> list[Write]:
    """Returns the writes that let the flow wait.

    The mail is composed in any case, so that the response time reveals nothing. Where none is
    sent, no code is right.
    """
    may_send = await _may_send(service, flow, user, login_name)
    now, id = service.clock.now(), service.random.id()
    code, issue = mail_codes.new(service), reset_links.issue(user) if user else ""
    verification = Verification(
        id=id,
        user_id=user.id if user else _NO_USER,
        code_mac=mail_codes.digest(service, id, issue, code) if may_send else "",
        proves="reset",
        created_at=now,
        expires_at=now + timedelta(minutes=LINK_MINUTES),
    )
    key, key_write = reset_links.add_key(service, user, Insert(VERIFICATIONS, verification))
    posting = await _mail(service, flow, user, code, key, state)
    return [
        key_write,
        *([posting] if user and may_send else []),
        _step(flow, id, login_name, now),
    ]


async def _reachable(service: Service, flow: PendingSignIn, user: User | None) -> Subject | None:
    """Returns the person, if they can sign in and the mail reaches them.

    An unverified address is enough only for a first password, and only if it was not stated by
    another identity provider: an administrator has invited the user to it. The same is read
    whether or not there is a user, so that the time does not reveal it.
    """
    org_id, user_id = (user.org_id, user.id) if user else (flow.client.org_id, flow.request.id)
    (organization, instance), is_linked = await asyncio.gather(
        service.store.get_many([(ORGANIZATIONS, org_id), (INSTANCES, INSTANCE_ID)]),
        links.is_linked(service, user_id),
    )
    if user is None or user.kind != "human" or user.email is None:
        return None
    if organization is None or instance is None:
        return None
    subject = Subject(instance=instance, organization=organization, user=user)
    is_invited = user.password is None and not is_linked
    is_own_address = user.email.is_verified or is_invited
    return subject if is_own_address and is_active(subject) else None


async def _may_send(
    service: Service, flow: PendingSignIn, user: User | None, login_name: str
) -> bool:
    """Counts the mails to one account, and returns whether one more may be sent.

    All login names of the account share the count, and no page shows it. A browser that the
    account knows has a count of its own, which requests from other browsers do not use up.
    """
    account = account_names.account(service, user, login_name)
    key, max_messages = (
        f"resets:{account}",
        mail_limits.MAX_TO_MAILBOX * mail_limits.ALL_NETWORKS_FACTOR,
    )
    if _is_known(flow, user):
        key, max_messages = f"{key}:known", mail_limits.MAX_TO_MAILBOX
    try:
        await mail_limits.count(service, key, max_messages)
    except Throttled:
        return False
    return True


async def _mail(
    service: Service,
    flow: PendingSignIn,
    user: User | None,
    code: str,
    key: str,
    state: ResetState,
) -> Insert:
    preferred = user.profile.preferred_language if user else None
    bundle = messages.bundle_for(service.config, preferred, state.language)
    org_id = user.org_id if user else flow.client.org_id
    application = bundle.text(first_party_areas.name_of(flow.client))
    reset_mail = reset_messages.with_code(
        bundle,
        user.email.address if user and user.email else _UNDELIVERABLE,
        urlsplit(service.config.issuer).netloc,
        code,
        reset_links.address(service.config, key, **state.query),
        code_minutes=CODE_MINUTES,
        link_minutes=LINK_MINUTES,
        wording=await wording(service, org_id, "passwordreset", bundle.tag, application),
    )
    return messages.posting(
        service, "reset_password", reset_mail, user.id if user else None, org_id=org_id
    )


def _step(flow: PendingSignIn, id: str, login_name: str, now: object) -> Write:
    """Returns the write by which the flow continues with the code. `Stale`: another tab was
    first."""
    changes = {"reset_id": id, "reset_sent_at": now, "login_name": login_name, "session_id": None}
    expected = {"completed_at": None, "reset_id": flow.request.reset_id}
    return sign_in_pending.step(flow, changes, expected)


async def enter_code(service: Service, flow: PendingSignIn, code: str, state: ResetState) -> None:
    """Checks the mailed code, after which the page for a new password is next.

    Raises `MailCodeRefused` with the error code `code.wrong`, `code.tries` or `code.expired`: with
    `code.expired` a new code has been mailed. Raises `Throttled`; `Stale` when something else
    happened in the flow at the same moment.
    """
    request = flow.request
    if request.reset_id is None or request.reset_sent_at is None:
        raise Stale(AUTH_REQUESTS.name, request.id)
    if service.clock.now() >= request.reset_sent_at + _CODE_LIFETIME:
        await resend(service, flow, state)
        raise MailCodeRefused("the code has expired", error_code="code.expired")
    verification = await find(service, flow)
    user = await service.store.get(USERS, verification.user_id if verification else _NO_USER)
    await _compare(service, flow, user, verification, code, state.origin)
    subject = await user_lookup.subject_of(service, user) if user else None
    if verification is None or subject is None or not is_active(subject):
        raise MailCodeRefused("the account can't be used")
    await mailed_codes.accepted(service, subject.user)
    subject = await changes.run(service, email_verification.mark_reached, subject)
    await sign_in_pending.commit(
        service, flow, reset_links.use_write(verification), _verification_write(flow, subject)
    )


async def _compare(
    service: Service,
    flow: PendingSignIn,
    user: User | None,
    verification: Verification | None,
    code: str,
    origin: AttemptOrigin,
) -> None:
    """Compares the code within the limits of its mail and of the account. Raises
    MailCodeRefused."""
    reset_id, name = flow.request.reset_id or "", flow.request.login_name or ""
    issue = reset_links.issue(user) if user else ""
    is_open = True
    try:
        await mail_codes.count(service, reset_id)
        is_known = _is_known(flow, user)
        is_open = await mailed_codes.is_open_to(service, user, name, is_known=is_known)
        # Without an account every code is compared nevertheless, and wrong.
        expected = verification.code_mac or None if verification and user and is_open else None
        mail_codes.compare(service, expected, reset_id, issue, code)
    except MailCodeRefused:
        mailed_codes.refused(service, user, name, origin, is_closed=not is_open)
        raise


def _verification_write(flow: PendingSignIn, subject: Subject) -> Write:
    """Returns the write by which the flow continues with the new password. `Stale`: another tab
    was first."""
    changes = authentication_progress.stored_fields(
        flow.browser, AuthenticationProgress(subject)
    )  # a mailed code alone does not sign the user in
    expected = {"completed_at": None, "reset_id": flow.request.reset_id}
    return sign_in_pending.step(flow, changes, expected)


async def forget(service: Service, flow: PendingSignIn) -> None:
    """Removes the reset from the flow after the password was set in another browser.

    The flow then asks for the password.
    """
    await sign_in_flow.forget_progress(service, flow)
