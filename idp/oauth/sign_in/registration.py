"""Opening an account within a sign-in: the form, the code from the mail, and who is signed in.

What was typed waits, sealed, until the code is right; then the account, its session and the step
of the flow are one unit. Of an address that has an account already only its mailbox is told.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Final, NamedTuple

from msgspec import Struct, structs

from idp.foundation import uris
from idp.foundation.i18n import Bundle
from idp.identity.factors import mail_codes
from idp.identity.factors.mail_codes import MailCodeRefused
from idp.identity.guesses import mail_limits
from idp.identity.guesses.origin import TryOrigin
from idp.identity.sessions import lifetime as session_lifetime
from idp.identity.sessions.browsers import Cookie
from idp.identity.users import registration
from idp.identity.users.creation import is_met
from idp.identity.users.registration import NewAccount, Typed
from idp.identity.users.subjects import Subject
from idp.mail import messages
from idp.mail.templates import registration as letters
from idp.mail.wording import wording
from idp.oauth.sign_in import first_party_areas, registration_organization
from idp.oauth.sign_in import flow as sign_in_flow
from idp.oauth.sign_in import pending as sign_in_pending
from idp.oauth.sign_in.authentication_progress import AuthenticationProgress
from idp.oauth.sign_in.pending import Flow
from idp.records import (
    INSTANCE_ID,
    INSTANCES,
    ORGANIZATIONS,
    REGISTRATIONS,
    Organization,
    Registration,
)
from idp.service import Service
from storage import Conflict, Delete, Insert, Stale, Update, Write

CODE_MINUTES: Final = 10
NAMES: Final = 10
_COUNTS: Final = timedelta(minutes=CODE_MINUTES)


class AddressTaken(Exception):
    """The mailbox was proven, and it has an account by now."""


class NameTaken(Exception):
    """The mailbox was proven, and the user name is somebody else's."""


class RegistrationState(Struct, frozen=True):
    """Who asks for a mail from where, how it is written, and where it leads to."""

    origin: TryOrigin
    bundle: Bundle
    verify_url: str
    sign_in_url: str


class _SentMail(NamedTuple):
    """A mail that is to go out, and what is stored of its code: nothing if it has none."""

    posting: Insert
    code_mac: str | None


async def find(service: Service, flow: Flow) -> Registration | None:
    """The account that waits in this flow."""
    id = flow.request.registration_id
    return await service.store.get(REGISTRATIONS, id) if id else None


async def begin(
    service: Service,
    flow: Flow,
    organization: Organization,
    typed: Typed,
    visit: RegistrationState,
) -> None:
    """Let an account wait for the code that is now sent, in place of one that waited before.

    The form of a moment ago, sent again, brings no second mail. Raises Throttled, HashingBusy;
    Stale when something else happened in the flow at once.
    """
    known = await find(service, flow)
    if known is not None and _is_repeated(service, known, typed):
        waiting = await registration.draft(service, organization.id, typed, visit.bundle.tag)
        await sign_in_pending.commit(
            service,
            flow,
            _replacing(known, sealed=registration.seal(service, waiting)),
            _step(flow, known.id, organization),
        )
        return
    await mail_limits.admit(service, typed.email, visit.origin)
    waiting = await registration.draft(service, organization.id, typed, visit.bundle.tag)
    new = Registration(
        id=service.random.id(),
        flow_id=flow.request.id,
        sealed=registration.seal(service, waiting),
        sent_at=service.clock.now(),
        expires_at=sign_in_pending.end_of(flow.request),
    )
    sent = await _mail(service, flow, organization, new, waiting, visit)
    writes: list[Write] = [Delete(REGISTRATIONS, known.id)] if known else []
    writes.append(Insert(REGISTRATIONS, structs.replace(new, code_mac=sent.code_mac)))
    await sign_in_pending.commit(
        service, flow, *writes, sent.posting, _step(flow, new.id, organization)
    )


def _is_repeated(service: Service, known: Registration, typed: Typed) -> bool:
    is_recent = known.proven_at is None and mail_limits.wait_seconds(service, known.sent_at) > 0
    return is_recent and registration.unseal(service, known.sealed).email == typed.email


def _step(flow: Flow, registration_id: str, organization: Organization) -> Write:
    """The flow goes on to the code. Stale: another tab was faster."""
    changes = {
        "registration_id": registration_id,
        "home_org_id": organization.id,
        "login_name": None,
        "session_id": None,
    }
    expected = {"completed_at": None, "registration_id": flow.request.registration_id}
    return sign_in_pending.step(flow, changes, expected)


def _replacing(known: Registration, **changes: object) -> Update:
    """A change of what waits. Stale: a mail was sent or the mailbox proven meanwhile."""
    expected = {"sent_at": known.sent_at, "proven_at": None}
    return Update(REGISTRATIONS, known.id, set=changes, expect=expected)


async def resend(
    service: Service, flow: Flow, waiting: Registration, visit: RegistrationState
) -> None:
    """Send another code; the one before counts no more. Raises Throttled, Stale."""
    mail_limits.refuse_too_soon(service, waiting.sent_at)
    organization = await registration_organization.find(service, flow)
    if organization is None:
        raise Stale(ORGANIZATIONS.name, flow.client.org_id)
    typed = registration.unseal(service, waiting.sealed)
    await mail_limits.admit(service, typed.email, visit.origin)
    new = structs.replace(waiting, sent_at=service.clock.now())
    sent = await _mail(service, flow, organization, new, typed, visit)
    await service.store.commit(
        _replacing(waiting, sent_at=new.sent_at, code_mac=sent.code_mac), sent.posting
    )


async def _mail(
    service: Service,
    flow: Flow,
    organization: Organization,
    waiting: Registration,
    typed: NewAccount,
    visit: RegistrationState,
) -> _SentMail:
    """What the mailbox is told. Both letters are written, so that time doesn't tell which goes."""
    to, code = typed.email, mail_codes.new(service)
    application = visit.bundle.text(first_party_areas.name_of(flow.client))
    url = uris.with_parameters(visit.verify_url, [("code", code)])
    words = await wording(service, organization.id, "verifyemail", visit.bundle.tag, application)
    with_code = letters.with_code(visit.bundle, to, application, code, url, CODE_MINUTES, words)
    of_known = letters.of_known(visit.bundle, to, application, visit.sign_in_url)
    digest = mail_codes.digest(service, _issue(waiting), to, code)
    if await registration.is_known(service, organization, to):
        return _SentMail(messages.posting(service, "account_exists", of_known), None)
    return _SentMail(messages.posting(service, "register", with_code), digest)


def _issue(waiting: Registration) -> str:
    """What a code and its tries belong to: one sending of one registration's mail."""
    return f"{waiting.id}:{int(waiting.sent_at.timestamp() * 1000)}"


async def enter_code(
    service: Service, flow: Flow, waiting: Registration, code: str, visit: RegistrationState
) -> Cookie | None:
    """Make the account and sign its owner in, in one unit; the browser's new cookie.

    Raises MailCodeRefused: `code.wrong`, `code.tries`, or `code.expired`, and then a new one has
    been sent; AddressTaken, NameTaken; Throttled; Stale when something else happened at once.
    """
    if waiting.proven_at is not None:
        raise NameTaken
    if service.clock.now() >= waiting.sent_at + _COUNTS:
        await resend(service, flow, waiting, visit)
        raise MailCodeRefused("the code has expired", slug="code.expired")
    typed = registration.unseal(service, waiting.sealed)
    await mail_codes.check(service, waiting.code_mac, _issue(waiting), typed.email, code)
    return await _complete(service, flow, waiting, typed)


async def choose_name(
    service: Service, flow: Flow, waiting: Registration, user_name: str
) -> Cookie | None:
    """The same with another user name, for whom the mailbox was proven.

    Raises NameTaken, AddressTaken, Throttled, Stale.
    """
    if waiting.proven_at is None:
        raise Stale(REGISTRATIONS.name, waiting.id)
    await mail_limits.count(service, f"names:{waiting.id}", NAMES)
    typed = registration.unseal(service, waiting.sealed)
    return await _complete(service, flow, waiting, structs.replace(typed, user_name=user_name))


async def _complete(
    service: Service, flow: Flow, waiting: Registration, typed: NewAccount
) -> Cookie | None:
    organization = await registration_organization.find(service, flow)
    instance = await service.store.get(INSTANCES, INSTANCE_ID)
    if organization is None or instance is None:
        raise Stale(ORGANIZATIONS.name, flow.client.org_id)
    try:
        made = await registration.prepare(service, organization, typed)
        # Asked after the name was claimed: of two at once with one mailbox, one is refused.
        if not (made.problems or await registration.is_known(service, organization, typed.email)):
            subject = Subject(instance=instance, organization=organization, user=made.user)
            before = [*made.writes, Delete(REGISTRATIONS, waiting.id)]
            proven = AuthenticationProgress(subject, session_lifetime.PASSWORD)
            return await sign_in_flow.prove(service, flow, proven, *before, registration_id=None)
    except (Conflict, Stale) as error:
        if not is_met(error):
            raise
    if await service.store.get(REGISTRATIONS, waiting.id) is None:
        raise Stale(REGISTRATIONS.name, waiting.id)  # the same form, sent twice at once
    if await registration.is_known(service, organization, typed.email):
        raise AddressTaken
    if waiting.proven_at is None:
        is_proven = _replacing(waiting, proven_at=service.clock.now(), code_mac=None)
        await service.store.commit(is_proven)
    raise NameTaken
