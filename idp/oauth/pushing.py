"""Pushed authorization requests (RFC 9126): sent by the client itself, brought by reference.

What the browser brings later holds nothing that it could change. A reference is used once.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from msgspec import structs

from idp import credentials
from idp.oauth import authorization_request, client_auth, explain, stories
from idp.oauth.authorization_request import RecordIgnored
from idp.oauth.checks.authorize import REDIRECT_URI
from idp.oauth.checks.check import ONCE
from idp.oauth.checks.par import NO_REFERENCE, SIGNS_IN
from idp.oauth.errors import InvalidRequest, UnauthorizedClient, Unusable
from idp.oauth.params import Params
from idp.oauth.responses import ReturnTo
from idp.records import PUSHED_REQUESTS, Application, AuthRequest
from idp.service import Service
from storage import Insert, Stale, Update
from storage.settling import commit_settled

PREFIX: Final = "urn:ietf:params:oauth:request_uri:"
LASTS_SECONDS: Final = 60


async def push(
    service: Service,
    authorization: str | None,
    params: Params,
    record: RecordIgnored,
) -> dict[str, Any]:
    """The answer to a client that pushes a request (2.2): the checks are those of authorize.

    `authorization` is the header of that name; `record` is called with what is ignored. Raises
    OAuthError.
    """
    with ONCE:
        params.refuse_repeated()
    client, _ = await client_auth.authenticate(service, authorization, params)
    with SIGNS_IN:
        if client.app_type == "api":
            story = "The application is an API, which signs nobody in."
            raise UnauthorizedClient("the client may not push requests", story=story)
    with NO_REFERENCE:
        if params.get("request_uri") is not None:
            raise InvalidRequest("request_uri can not be pushed")
    to = _return_to(client, params)
    request = await authorization_request.check(
        service, client, params, to, record, is_pushed=True
    )
    secret = service.random.token()
    pushed = structs.replace(
        request,
        id=credentials.digest(secret),
        expires_at=request.created_at + timedelta(seconds=LASTS_SECONDS),
    )
    await service.store.commit(Insert(PUSHED_REQUESTS, pushed))
    return {"request_uri": PREFIX + secret, "expires_in": LASTS_SECONDS}


def _return_to(client: Application, params: Params) -> ReturnTo:
    with REDIRECT_URI:
        try:
            return authorization_request.return_to(client, params)
        except Unusable as error:
            told = "redirect_uri is missing, or not one that the client registered"
            story, fix = explain.story(error), explain.fix(error)
            raise InvalidRequest(told, story=story, fix=fix) from error


def is_reference(request_uri: str) -> bool:
    """Whether this is a request_uri as `push` gives them."""
    return request_uri.startswith(PREFIX)


async def take(service: Service, client: Application, reference: str) -> AuthRequest:
    """The request that was pushed, for this one time. Raises Unusable."""
    id = credentials.digest(reference.removeprefix(PREFIX))
    pushed = await service.store.get(PUSHED_REQUESTS, id)
    if pushed is None:
        story = f"No such request_uri is known. Each lasts {LASTS_SECONDS} s and is used once."
        raise _unusable(client, story)
    if pushed.client_id != client.id:
        raise _unusable(client, "The request was pushed by another application.")
    now = service.clock.now()
    if pushed.completed_at is not None:
        used = stories.span(now - pushed.completed_at)
        raise _unusable(client, f"The request_uri was used {used} ago.")
    use = Update(PUSHED_REQUESTS, id, set={"completed_at": now}, expect={"completed_at": None})
    try:
        await commit_settled(service.store, use)
    except Stale:
        story = "Another request used the request_uri at the same moment."
        raise _unusable(client, story) from None
    return structs.replace(
        pushed,
        id=service.random.id(),
        created_at=now,
        expires_at=now + timedelta(seconds=service.config.sign_in_seconds),
    )


def _unusable(client: Application, story: str) -> Unusable:
    told = "The request_uri was used before, has expired, or belongs to another application."
    return Unusable("request_uri_unusable", told, client_id=client.id, story=story)
