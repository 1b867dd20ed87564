"""Pushed authorization requests (RFC 9126): sent by the client, referred to by the browser.

The browser sends only the reference, so it can't change the request. The browser that loads a
reference first may load it again; it is valid for one response (4, 7.3).
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from msgspec import structs

from idp.foundation import opaque_tokens
from idp.limits.origin import AttemptOrigin
from idp.oauth import request_limits
from idp.oauth.authentication import client_authentication
from idp.oauth.authentication.client_authentication import Accepted
from idp.oauth.endpoints import authorization_request, sealed_requests
from idp.oauth.endpoints.authorization_request import RecordIgnored
from idp.oauth.endpoints.authorization_response import ReturnTo
from idp.oauth.errors import InvalidRequest, RequestRefused, UnauthorizedClient, UnusableRequest
from idp.oauth.params import Params
from idp.oauth.paths import PAR
from idp.oauth.refusals import details as refusal_details
from idp.oauth.refusals import explain
from idp.oauth.refusals.authorize import REDIRECT_URI, REFERENCE
from idp.oauth.refusals.check import ONCE
from idp.oauth.refusals.par import NO_REFERENCE, SIGNS_IN
from idp.records import PUSHED_REQUESTS, Application, AuthRequest, Browser
from idp.service import Service
from storage import Insert, Stale, Update, Write

PREFIX: Final = "urn:ietf:params:oauth:request_uri:"
LIFETIME_SECONDS: Final = 60
_ACCEPTED: Final = Accepted(PAR)


async def push(
    service: Service,
    authorization: str | None,
    params: Params,
    record: RecordIgnored,
    origin: AttemptOrigin,
) -> dict[str, Any]:
    """Checks and stores a request that a client pushes. Returns the response with its reference
    (2.2).

    `authorization` is the header of that name, and `origin` the network that the client is in.
    `record` is called with the reason if the `id_token_hint` is ignored. Raises `OAuthError`.
    """
    with ONCE:
        params.refuse_repeated()
    client, *_ = await client_authentication.authenticate(
        service, authorization, params, accepted=_ACCEPTED
    )
    with SIGNS_IN:
        if client.app_type == "api":
            details = "The application is an API, which signs no users in."
            raise UnauthorizedClient("the client may not push requests", details=details)
    with NO_REFERENCE:
        # RFC 9126 2.1: a pushed request must not refer to another one.
        if params.get("request_uri") is not None:
            raise InvalidRequest("request_uri can not be pushed")
    to = _return_to(client, params)
    request = await authorization_request.check(
        service, client, params, to, record, is_pushed=True
    )
    is_public = client.auth_method == "none"
    # After the checks: only a request that is stored counts against the limit.
    request_limits.admit_push(service, client.id, origin, is_public=is_public)
    secret = service.random.token()
    pushed = structs.replace(
        request,
        # The reference is stored as a digest: a reader of the store cannot use it.
        id=opaque_tokens.digest(secret),
        expires_at=request.created_at + timedelta(seconds=LIFETIME_SECONDS),
    )
    await service.store.commit(Insert(PUSHED_REQUESTS, pushed))
    return {"request_uri": PREFIX + secret, "expires_in": LIFETIME_SECONDS}


def _return_to(client: Application, params: Params) -> ReturnTo:
    with REDIRECT_URI:
        try:
            return authorization_request.return_to(client, params)
        except UnusableRequest as error:
            description = "redirect_uri is missing, or not one that the client registered"
            details, fix = explain.details(error), explain.fix(error)
            raise InvalidRequest(description, details=details, fix=fix) from error


def is_reference(request_uri: str) -> bool:
    """Returns whether the `request_uri` has the form of one that `push` returns."""
    return request_uri.startswith(PREFIX)


class OtherBrowser(RequestRefused):
    """Another browser was the first to load the pushed request."""


async def find(service: Service, client: Application, reference: str) -> AuthRequest:
    """Returns the request that was pushed under `reference`, for a new sign-in: with a new id.

    Its `pushed_id` is the id of the stored request, and `agent_id` that of the browser that was
    the first to load it, or None. Raises `UnusableRequest` if the reference is unknown, another
    client's, expired or used.
    """
    request_id = opaque_tokens.digest(reference.removeprefix(PREFIX))
    pushed = await service.store.get(PUSHED_REQUESTS, request_id)
    now = service.clock.now()
    if pushed is None or (pushed.ends_at is not None and pushed.ends_at <= now):
        details = (
            f"No such request_uri is known. Each lasts {LIFETIME_SECONDS} s and is used once."
        )
        raise _unusable(client, details)
    if pushed.client_id != client.id:
        raise _unusable(client, "The request was pushed by another application.")
    if pushed.completed_at is not None:
        used_ago = refusal_details.span(now - pushed.completed_at)
        raise _unusable(client, f"The request_uri was used {used_ago} ago.")
    return structs.replace(
        pushed,
        id=service.random.id(),
        created_at=now,
        expires_at=pushed.ends_at or now + timedelta(seconds=service.config.sign_in_seconds),
        ends_at=None,
        pushed_id=request_id,
    )


def refuse_other_browser(request: AuthRequest, browser: Browser | None) -> None:
    """Raises `OtherBrowser` if the pushed request was loaded before, and not in this browser.

    `browser` is None for one without a cookie.
    """
    if request.pushed_id is None or request.agent_id is None:
        return
    if browser is None or browser.id != request.agent_id:
        raise _other_browser(request)


async def claim(service: Service, request: AuthRequest, browser: Browser) -> AuthRequest:
    """Returns the request with this browser as the one that it belongs to (`agent_id`).

    For a pushed request this is stored, and the reference is then valid until the sign-in expires,
    not only 60 seconds. Raises `OtherBrowser` if another browser has loaded the pushed request
    first.
    """
    claimed_request = structs.replace(request, agent_id=browser.id)
    if request.pushed_id is None or request.agent_id == browser.id:
        return claimed_request
    changes = {
        "agent_id": browser.id,
        "ends_at": request.expires_at,
        # The record outlives the flow's sealed_request, so that the last answer still finds it.
        "expires_at": request.expires_at + sealed_requests.EXTRA_LIFETIME,
    }
    expected = {"agent_id": None, "completed_at": None}
    try:
        await service.store.commit(
            Update(PUSHED_REQUESTS, request.pushed_id, set=changes, expect=expected)
        )
    except Stale:
        latest = await service.store.get(PUSHED_REQUESTS, request.pushed_id)
        if latest is None or latest.agent_id != browser.id:  # else: two tabs of this browser
            raise _other_browser(request) from None
    return claimed_request


def _other_browser(request: AuthRequest) -> OtherBrowser:
    details = "Another browser was the first to load the request_uri."
    refusal = OtherBrowser("", details=details, client_id=request.client_id)
    refusal.check = REFERENCE
    return refusal


def use_writes(service: Service, request: AuthRequest) -> list[Write]:
    """Returns the write that stores that a pushed request is used (RFC 9126 7.3).

    The caller commits it in the unit that stores the response. The list is empty for a request
    that was not pushed.
    """
    if request.pushed_id is None:
        return []
    changes = {"completed_at": service.clock.now()}
    expected = {"completed_at": None, "agent_id": request.agent_id}
    return [Update(PUSHED_REQUESTS, request.pushed_id, set=changes, expect=expected)]


async def is_used(service: Service, request: AuthRequest) -> bool:
    """Returns whether a response to this pushed request was sent already, possibly in another tab.

    False for a request that was not pushed.
    """
    if request.pushed_id is None:
        return False
    pushed = await service.store.get(PUSHED_REQUESTS, request.pushed_id)
    return pushed is None or pushed.completed_at is not None


def used_meanwhile(client: Application) -> UnusableRequest:
    """Returns the error for a reference that another request has just used."""
    refusal = _unusable(client, "Another request used the request_uri at the same moment.")
    refusal.check = REFERENCE
    return refusal


def _unusable(client: Application, details: str) -> UnusableRequest:
    description = (
        "The request_uri was used before, has expired, or belongs to another application."
    )
    return UnusableRequest(
        "request_uri_unusable", description, client_id=client.id, details=details
    )
