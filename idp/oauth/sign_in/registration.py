"""The registration of an account within a sign-in: the form, the mailed code, the new user's
session.

The entered data is stored sealed until the code is correct; then the account, its session and the
step of the flow are one unit. No page shows whether an address has an account already; only the
mail to this address does.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Final, NamedTuple

from msgspec import Struct, structs

from idp.foundation import uris
from idp.foundation.i18n import Bundle
from idp.identity.factors import mail_codes
from idp.identity.factors.mail_codes import MailCodeRefused
from idp.identity.guesses import mail_limits, mailed_codes
from idp.identity.sessions import lifetime as session_lifetime
from idp.identity.sessions.browsers import Cookie
from idp.identity.users import registration
from idp.identity.users.creation import is_name_conflict
from idp.identity.users.registration import FormValues, NewAccount
from idp.identity.users.subjects import Subject
from idp.limits.origin import AttemptOrigin
from idp.mail import messages
from idp.mail.templates import registration as registration_messages
from idp.mail.wording import wording
from idp.oauth.sign_in import first_party_areas, registration_organization
from idp.oauth.sign_in import flow as sign_in_flow
from idp.oauth.sign_in import pending as sign_in_pending
from idp.oauth.sign_in.authentication_progress import AuthenticationProgress
from idp.oauth.sign_in.pending import PendingSignIn
from idp.records import (
    INSTANCE_ID,
    INSTANCES,
    ORGANIZATIONS,
    REGISTRATIONS,
    Organization,
    Registration,
)
from idp.service import Service
from idp.usage import counts
from storage import Conflict, Delete, Insert, Stale, Update, Write

CODE_MINUTES: Final = 10
MAX_NAME_ATTEMPTS: Final = 10
_CODE_LIFETIME: Final = timedelta(minutes=CODE_MINUTES)


class AddressTaken(Exception):
    """The code was right, but the e-mail address has got an account in the meantime."""


class NameTaken(Exception):
    """The code was right, but the user name belongs to another user."""


class RegistrationState(Struct, frozen=True):
    """The parts of a request that the mail of a registration needs: its sender (`origin`), the
    texts in the language of its page (`bundle`), and the addresses of the two links: to the page
    that asks for the code (`verify_url`), and to the sign-in (`sign_in_url`)."""

    origin: AttemptOrigin
    bundle: Bundle
    verify_url: str
    sign_in_url: str


class _SentMail(NamedTuple):
    """A mail to be sent, and the stored MAC of its code; None if it has no code."""

    posting: Insert
    code_mac: str | None


async def find(service: Service, flow: PendingSignIn) -> Registration | None:
    """Returns the registration that waits for its code in this flow, or None."""
    id = flow.request.registration_id
    return await service.store.get(REGISTRATIONS, id) if id else None


async def begin(
    service: Service,
    flow: PendingSignIn,
    organization: Organization,
    entered: FormValues,
    state: RegistrationState,
) -> None:
    """Stores a registration, in place of one that waits in the flow, and mails its code.

    `entered` is the form's content. The same form sent again within a moment causes no second
    mail. Raises `Throttled` and `HashingBusy`; `Stale` when something else happened in the flow at
    the same moment.
    """
    pending = await find(service, flow)
    if pending is not None and _is_repeated(service, pending, entered):
        waiting = await registration.draft(service, organization.id, entered, state.bundle.tag)
        await sign_in_pending.commit(
            service,
            flow,
            _replacement(pending, sealed=registration.seal(service, waiting)),
            _step(flow, pending.id, organization),
        )
        return
    await mail_limits.admit(service, entered.email, state.origin)
    waiting = await registration.draft(service, organization.id, entered, state.bundle.tag)
    new = Registration(
        id=service.random.id(),
        flow_id=flow.request.id,
        sealed=registration.seal(service, waiting),
        sent_at=service.clock.now(),
        expires_at=sign_in_pending.end_of(flow.request),
    )
    sent = await _mail(service, flow, organization, new, waiting, state)
    writes: list[Write] = [Delete(REGISTRATIONS, pending.id)] if pending else []
    writes.append(Insert(REGISTRATIONS, structs.replace(new, code_mac=sent.code_mac)))
    await sign_in_pending.commit(
        service, flow, *writes, sent.posting, _step(flow, new.id, organization)
    )


def _is_repeated(service: Service, pending: Registration, entered: FormValues) -> bool:
    is_recent = (
        pending.proven_at is None and mail_limits.wait_seconds(service, pending.sent_at) > 0
    )
    return is_recent and registration.unseal(service, pending.sealed).email == entered.email


def _step(flow: PendingSignIn, registration_id: str, organization: Organization) -> Write:
    """Returns the write by which the flow continues with the code. `Stale`: another tab was
    first."""
    changes = {
        "registration_id": registration_id,
        "home_org_id": organization.id,
        "login_name": None,
        "session_id": None,
    }
    expected = {"completed_at": None, "registration_id": flow.request.registration_id}
    return sign_in_pending.step(flow, changes, expected)


def _replacement(pending: Registration, **changes: object) -> Update:
    """Returns a change of the pending registration. `Stale`: a mail was sent or the address
    verified meanwhile."""
    expected = {"sent_at": pending.sent_at, "proven_at": None}
    return Update(REGISTRATIONS, pending.id, set=changes, expect=expected)


async def resend(
    service: Service, flow: PendingSignIn, waiting: Registration, state: RegistrationState
) -> None:
    """Mails another code for a registration; the previous one is no longer valid.

    Raises `Throttled`, also for a second request within a moment, and `Stale`.
    """
    mail_limits.refuse_too_soon(service, waiting.sent_at)
    organization = await registration_organization.find(service, flow)
    if organization is None:
        raise Stale(ORGANIZATIONS.name, flow.client.org_id)
    entered = registration.unseal(service, waiting.sealed)
    await mail_limits.admit(service, entered.email, state.origin)
    new = structs.replace(waiting, sent_at=service.clock.now())
    sent = await _mail(service, flow, organization, new, entered, state)
    await service.store.commit(
        _replacement(waiting, sent_at=new.sent_at, code_mac=sent.code_mac), sent.posting
    )


async def _mail(
    service: Service,
    flow: PendingSignIn,
    organization: Organization,
    waiting: Registration,
    entered: NewAccount,
    state: RegistrationState,
) -> _SentMail:
    """Returns the mail. Both kinds are composed, so that the time does not reveal which one is
    sent."""
    to, code = entered.email, mail_codes.new(service)
    application = state.bundle.text(first_party_areas.name_of(flow.client))
    url = uris.with_parameters(state.verify_url, [("code", code)])
    texts = await wording(service, organization.id, "verifyemail", state.bundle.tag, application)
    with_code = registration_messages.with_code(
        state.bundle, to, application, code, url, CODE_MINUTES, texts
    )
    account_exists = registration_messages.account_exists(
        state.bundle, to, application, state.sign_in_url
    )
    digest = mail_codes.digest(service, _issue(waiting), to, code)
    if await registration.is_known(service, organization, to):
        return _SentMail(
            messages.posting(service, "account_exists", account_exists, org_id=organization.id),
            None,
        )
    return _SentMail(
        messages.posting(service, "register", with_code, org_id=organization.id), digest
    )


def _issue(waiting: Registration) -> str:
    """Returns the text that a code and its attempts belong to: one mail of one registration."""
    return f"{waiting.id}:{int(waiting.sent_at.timestamp() * 1000)}"


async def enter_code(
    service: Service,
    flow: PendingSignIn,
    waiting: Registration,
    code: str,
    state: RegistrationState,
) -> Cookie:
    """Checks the code, then creates the account and signs its user in, in one unit.

    Returns the browser's new cookie. Raises `MailCodeRefused` with the error code `code.wrong`,
    `code.tries` or `code.expired`: with `code.expired` a new code has been mailed. Raises
    `AddressTaken`, `NameTaken`, `Throttled`; `Stale` when something else happened at the same
    moment.
    """
    # The address was verified by an earlier code: only the user name is still missing.
    if waiting.proven_at is not None:
        raise NameTaken
    if service.clock.now() >= waiting.sent_at + _CODE_LIFETIME:
        await resend(service, flow, waiting, state)
        raise MailCodeRefused("the code has expired", error_code="code.expired")
    entered = registration.unseal(service, waiting.sealed)
    await mailed_codes.check_contact(
        service, waiting.code_mac, _issue(waiting), entered.email, code
    )
    return await _complete(service, flow, waiting, entered)


async def choose_name(
    service: Service, flow: PendingSignIn, waiting: Registration, user_name: str
) -> Cookie:
    """Creates the account with another user name, after the address was verified, and signs in.

    Returns the browser's new cookie. Raises `NameTaken`, `AddressTaken`, `Throttled` and `Stale`.
    """
    if waiting.proven_at is None:
        raise Stale(REGISTRATIONS.name, waiting.id)
    await mail_limits.count(service, f"names:{waiting.id}", MAX_NAME_ATTEMPTS)
    entered = registration.unseal(service, waiting.sealed)
    return await _complete(service, flow, waiting, structs.replace(entered, user_name=user_name))


async def _complete(
    service: Service, flow: PendingSignIn, waiting: Registration, entered: NewAccount
) -> Cookie:
    organization = await registration_organization.find(service, flow)
    instance = await service.store.get(INSTANCES, INSTANCE_ID)
    if organization is None or instance is None:
        raise Stale(ORGANIZATIONS.name, flow.client.org_id)
    try:
        prepared = await registration.prepare(service, organization, entered)
        # Checked after the name was reserved: of two concurrent registrations of one address, one
        # is refused.
        if not (
            prepared.problems or await registration.is_known(service, organization, entered.email)
        ):
            subject = Subject(instance=instance, organization=organization, user=prepared.user)
            before = [*prepared.writes, Delete(REGISTRATIONS, waiting.id)]
            progress = AuthenticationProgress(subject, session_lifetime.PASSWORD)
            cookie = await sign_in_flow.continue_with(
                service, flow, progress, *before, registration_id=None
            )
            counts.count(service, "registration", organization.id)
            return cookie
    except (Conflict, Stale) as error:
        if not is_name_conflict(error):
            raise
    if await service.store.get(REGISTRATIONS, waiting.id) is None:
        raise Stale(REGISTRATIONS.name, waiting.id)  # the same form was sent twice
    if await registration.is_known(service, organization, entered.email):
        raise AddressTaken
    if waiting.proven_at is None:
        # The verification is stored, so the person only chooses another name and needs no second
        # code.
        verification = _replacement(waiting, proven_at=service.clock.now(), code_mac=None)
        await service.store.commit(verification)
    raise NameTaken


async def forget(service: Service, flow: PendingSignIn) -> None:
    """Removes the reference to a registration that no longer exists, so that the flow returns to
    its first page."""
    await sign_in_flow.update_request(service, flow, registration_id=None)
