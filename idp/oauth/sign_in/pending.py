"""Flows: sign-ins that wait for a user, each in one browser.

A flow is an authorization request. Until a form is sent it is sealed in the address of its pages
(`idp.oauth.endpoints.sealed_requests`), and nothing is stored; the step of the first form stores
it. Once stored, the record is read instead. A new browser has no record until its user
authenticates.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import datetime
from typing import Final, NamedTuple

from msgspec import Struct, structs

from idp.cached_reads import KnownRecords
from idp.identity.sessions import browsers
from idp.identity.sessions import lifetime as session_lifetime
from idp.identity.sessions.browsers import Cookie
from idp.identity.sessions.lifetime import LiveSession
from idp.limits.origin import AttemptOrigin
from idp.oauth import request_limits
from idp.oauth.endpoints import pushed_authorization, repeated_answers, sealed_requests
from idp.oauth.endpoints.authorization_response import AuthorizationResponse
from idp.oauth.endpoints.pushed_authorization import OtherBrowser
from idp.oauth.endpoints.redirect_uri_match import is_registered
from idp.oauth.sign_in import first_party_areas, next_step, page_branding
from idp.oauth.sign_in.flow_request import PURPOSE, FlowRecords
from idp.records import (
    APPLICATIONS,
    AUTH_REQUESTS,
    BROWSERS,
    INSTANCE_ID,
    INSTANCES,
    Application,
    Authorization,
    AuthRequest,
    Browser,
    Session,
)
from idp.service import Service
from storage import Conflict, Insert, Key, Stale, Update, Value, Write
from storage.confirmed_commit import commit_confirmed

NO_CHANGES: Final[Mapping[str, object]] = {}
NOT_COMPLETED: Final[Mapping[str, Value]] = {"completed_at": None}
_RESERVED_CHARACTERS: Final = 150  # for the browser's id and a language, which are decided later


class PendingSignIn(Struct):
    """A sign-in that waits for its user in this browser, with everything that its steps read.

    `sessions` are the browser's open sessions, `all_live_sessions` those of them whose users may
    still sign in, and `live_sessions` those of `all_live_sessions` that may answer the request.
    `address` identifies the flow in the addresses of its pages: a sealed request, until the flow
    is stored.
    `known_records` has the records that were read for the pages together with the flow.
    """

    request: AuthRequest
    client: Application
    browser: Browser
    sessions: list[Session]
    live_sessions: list[LiveSession]
    all_live_sessions: list[LiveSession]
    address: str
    is_stored: bool
    known_records: KnownRecords


class BegunFlow(Struct, frozen=True):
    """The `address` of a flow that has begun, and the cookie for a browser that had none."""

    address: str
    cookie: Cookie | None


async def begin(
    service: Service, request: AuthRequest, browser: Browser | None, origin: AttemptOrigin
) -> BegunFlow:
    """Begins a flow in this browser, which gets a cookie if it has none.

    Nothing is stored, unless the request is too long to be sealed. Raises `TooManyRequests` when
    the network has sent too many of the long ones; `OtherBrowser` when another browser was the
    first to load the pushed request.
    """
    cookie = browsers.new(service) if browser is None else None
    current = cookie.browser if cookie else browser
    request = await page_branding.with_branding(service, request)
    if current is not None:
        request = await pushed_authorization.claim(service, request, current)
    return BegunFlow(await _address(service, request, origin), cookie)


async def begin_unbound(
    service: Service, request: AuthRequest, origin: AttemptOrigin
) -> BegunFlow:
    """Begins a flow that belongs to no browser yet; `bind` gives it one on its first page.

    It is for a POST from another site, which comes without cookies. Raises `TooManyRequests`.
    """
    request = await page_branding.with_branding(service, request)
    return BegunFlow(await _address(service, request, origin), None)


async def _address(service: Service, request: AuthRequest, origin: AttemptOrigin) -> str:
    sealed = sealed_requests.seal(
        service, request, PURPOSE, reserved_characters=_RESERVED_CHARACTERS
    )
    if sealed is not None:
        return sealed
    request_limits.admit_long(service, origin)
    await service.store.commit(Insert(AUTH_REQUESTS, request))
    return request.id


async def begin_stored(
    service: Service, request: AuthRequest, browser: Browser | None, *other_writes: Write
) -> BegunFlow:
    """Stores a new flow for `request`, in one unit with `other_writes`.

    Raises `Stale` if one of `other_writes` fails with it.
    """
    cookie = browsers.new(service) if browser is None else None
    current = cookie.browser if cookie else browser
    request = await page_branding.with_branding(service, request)
    request = structs.replace(request, agent_id=current.id if current else None)
    await service.store.commit(Insert(AUTH_REQUESTS, request), *other_writes)
    return BegunFlow(request.id, cookie)


async def bind(service: Service, address: str, browser: Browser | None) -> BegunFlow | None:
    """Binds a flow that `begin_unbound` began to this browser, and returns its address and cookie.

    None when there is no such flow, or it is bound already.
    """
    request, is_stored, _ = await _read(service, address)
    if request is None or request.agent_id is not None or has_ended(service, request):
        return None
    cookie = browsers.new(service) if browser is None else None
    current = cookie.browser if cookie else browser
    if current is None:
        return None
    try:
        request = await pushed_authorization.claim(service, request, current)
        if not is_stored:
            sealed = sealed_requests.seal(service, request, PURPOSE)
            return BegunFlow(sealed, cookie) if sealed else None
        binding = {"agent_id": current.id}
        await service.store.commit(
            Update(AUTH_REQUESTS, request.id, set=binding, expect={"agent_id": None})
        )
    except (Stale, OtherBrowser):
        return None
    return BegunFlow(request.id, cookie)


class _StoredFlow(NamedTuple):
    """The flow that an address names; `client` is set if it was read with it."""

    request: AuthRequest | None
    is_stored: bool
    client: Application | None = None


async def _read(service: Service, address: str) -> _StoredFlow:
    """Returns the flow of an id or of a sealed request: the record if there is one, else what was
    sealed."""
    if not sealed_requests.is_sealed(address):
        return _StoredFlow(await service.store.get(AUTH_REQUESTS, address), is_stored=True)
    sealed = sealed_requests.read(service, address, AuthRequest, PURPOSE)
    if sealed is None:
        return _StoredFlow(None, is_stored=False)
    keys: list[Key] = [
        (AUTH_REQUESTS, sealed.id),
        (APPLICATIONS, sealed.client_id),
    ]
    stored, client = await service.store.get_many(keys)
    # Once stored, an old address in the browser's history must not bring back an earlier state.
    return _StoredFlow(stored or sealed, stored is not None, client)


def has_ended(service: Service, request: AuthRequest) -> bool:
    """Returns whether the time for the sign-in has passed; its record is stored for longer."""
    return service.clock.now() >= end_of(request)


def end_of(request: AuthRequest) -> datetime:
    """Returns the time until which the sign-in has to be complete."""
    return request.ends_at or request.expires_at


def id_of(service: Service, address: str) -> str | None:
    """Returns the id of the flow with this address; None if another installation has sealed it."""
    if not sealed_requests.is_sealed(address):
        return address
    sealed = sealed_requests.read(service, address, AuthRequest, PURPOSE)
    return sealed.id if sealed else None


async def find(service: Service, address: str, browser: Browser | None) -> PendingSignIn | None:
    """Returns what `flow_of` returns for this address, for a caller that knows its browser."""
    if browser is None:
        return None
    (request, is_stored, client), sessions = await asyncio.gather(
        _read(service, address), session_lifetime.find_open(service, browser)
    )
    known_records = (
        KnownRecords([(APPLICATIONS, client.id)], [client]) if client else KnownRecords()
    )
    records = FlowRecords(browser, sessions, request, is_stored, known_records)
    return await flow_of(service, records, address)


async def flow_of(service: Service, records: FlowRecords, address: str) -> PendingSignIn | None:
    """Returns the flow with this address if it is this browser's, and neither complete nor
    expired.

    None otherwise, and also if its client may not get the response any more.
    """
    request, browser, sessions = records.request, records.browser, records.sessions
    # An address alone is not enough: a flow belongs to the browser with its cookie.
    if request is None or browser is None or request.agent_id != browser.id:
        return None
    if has_ended(service, request) or await is_completed(service, request):
        return None
    client = await _client_of(service, request, records.known_records)
    if client is None or not may_be_answered(client, request):
        return None
    all_live_sessions = await session_lifetime.live_among(service, sessions)
    live_sessions = next_step.admitted(service.config, request, all_live_sessions)
    is_stored, known_records = records.is_stored, records.known_records
    address = request.id if is_stored else address
    return PendingSignIn(
        request,
        client,
        browser,
        sessions,
        live_sessions,
        all_live_sessions,
        address,
        is_stored,
        known_records,
    )


def may_be_answered(client: Application, request: AuthRequest) -> bool:
    """Returns whether the client may get the response to its request: it is active, and the
    redirect_uri is still registered, or the answer is a page of this service."""
    if client.state != "active":
        return False
    is_own_page = request.is_for_own_page or request.device_id is not None
    return is_own_page or is_registered(client, request.redirect_uri, client.redirect_uris)


def has_no_user(flow: PendingSignIn) -> bool:
    """Returns whether the flow is not stored yet, and no user has ever signed in in its
    browser."""
    return not (flow.is_stored or flow.browser.remembered or flow.browser.known)


async def _client_of(
    service: Service, request: AuthRequest, known_records: KnownRecords
) -> Application | None:
    """Returns the application of the request; for a page of the service, the one that represents
    it."""
    client: Application | None
    (client,) = await known_records.get_many(service, [(APPLICATIONS, request.client_id)])
    if client is not None or not request.is_for_own_page:
        return client
    (instance,) = await known_records.get_many(service, [(INSTANCES, INSTANCE_ID)])
    return first_party_areas.application(request, instance) if instance else None


async def is_completed(service: Service, request: AuthRequest) -> bool:
    """Returns whether the request has been answered, in this flow or of a pushed one in any."""
    return request.completed_at is not None or await pushed_authorization.is_used(service, request)


async def find_answer(service: Service, records: FlowRecords) -> AuthorizationResponse | None:
    """Returns the answer of this browser's finished flow if it may get that again, else None."""
    request, browser = records.request, records.browser
    if request is None or browser is None or request.agent_id != browser.id:
        return None
    return await repeated_answers.find(service, request)


async def has_advanced(service: Service, flow: PendingSignIn) -> bool:
    """Returns whether another form has taken the flow to another step since it was read."""
    latest = await service.store.get(AUTH_REQUESTS, flow.request.id)
    return latest is not None and _position(latest) != _position(flow.request)


def _position(request: AuthRequest) -> tuple[object, ...]:
    proven = request.proven_user_id, request.proven_amr, request.session_id
    return *proven, request.adding, request.sealed_setup, request.completed_at


def step(
    flow: PendingSignIn, changes: Mapping[str, object], expect: Mapping[str, Value] = NOT_COMPLETED
) -> Update | Insert:
    """Returns the write that changes fields of the flow's request; the first one inserts the
    request.

    `changes` are the fields by name. `expect` has the values that the stored request must have, by
    default that it is not complete. The caller passes the write to `commit`.
    """
    request = flow.request
    if flow.is_stored:
        return Update(AUTH_REQUESTS, request.id, set=changes, expect=expect)
    ends_at = request.expires_at
    times = {"ends_at": ends_at, "expires_at": ends_at + sealed_requests.EXTRA_LIFETIME}
    return Insert(AUTH_REQUESTS, structs.replace(request, **times | dict(changes)))


def completion_writes(
    service: Service,
    flow: PendingSignIn,
    response: AuthorizationResponse,
    authorization: Authorization | None = None,
    *,
    changes: Mapping[str, object] = NO_CHANGES,
) -> list[Write]:
    """Returns the writes that complete the flow with this response, and store that the request
    pushed for it, if any, is used.

    The caller commits them in the unit that stores the response, and the new `authorization` of
    one that has a code or tokens. `changes` are those of a step that is stored with them.
    """
    sealed_answer = repeated_answers.seal(service, response, authorization)
    ended = {"completed_at": service.clock.now(), "sealed_answer": sealed_answer}
    return [
        step(flow, {**changes, **ended}),
        *pushed_authorization.use_writes(service, flow.request),
    ]


async def commit(
    service: Service, flow: PendingSignIn, *writes: Write, is_confirmed: bool = False
) -> None:
    """Stores a `step` of the flow in one unit with the writes that belong to it.

    With `is_confirmed`, the outcome is waited for if the store's answer was lost
    (`storage.confirmed_commit`). Raises `Stale` when something else happened in the flow at the
    same moment, also when two forms authenticate a user in a new browser; `Conflict` of the other
    writes.
    """
    try:
        if is_confirmed:
            await commit_confirmed(service.store, *writes)
        else:
            await service.store.commit(*writes)
    except Conflict as error:
        raise as_stale(error) from error
    flow.is_stored, flow.address = True, flow.request.id


def as_stale(error: Conflict) -> Conflict | Stale:
    """Returns the error to raise when a unit of a flow fails with the conflict `error`.

    It is `Stale` if the browser or the request was inserted by another form at the same moment,
    and otherwise `error` itself.
    """
    is_own = error.collection in (BROWSERS.name, AUTH_REQUESTS.name)
    return Stale(error.collection, error.field) if is_own else error


def in_language(service: Service, flow: PendingSignIn, tag: str) -> str | None:
    """Returns the new address of a flow that is not stored, whose request then has the language
    with this `tag`.

    None if the address would be too long.
    """
    return sealed_requests.seal(service, structs.replace(flow.request, language=tag), PURPOSE)
