"""The device code grant (RFC 8628 3.4, 3.5): a device polls until the user has decided."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final

from idp.foundation import opaque_tokens
from idp.oauth import scopes
from idp.oauth.errors import (
    AccessDenied,
    AuthorizationPending,
    ExpiredToken,
    InvalidGrant,
    SlowDown,
)
from idp.oauth.grants.device_authorization import INTERVAL_SECONDS
from idp.oauth.grants.exchange import (
    Exchange,
    Grant,
    RefreshToken,
    find_live,
    last_token_ends_at,
    new_refresh_token,
    refuse_foreign,
)
from idp.oauth.params import Params
from idp.oauth.refusals import details as refusal_details
from idp.oauth.refusals import device as checks
from idp.oauth.refusals.token import SESSION_LIVE
from idp.oauth.tokens import token_response
from idp.records import AUTHORIZATIONS, DEVICE_REQUESTS, Authorization, DeviceRequest
from storage import Key, Stale, Update
from storage.settling import commit_settled


def reads(params: Params) -> list[Key]:
    """Returns the keys of the request that the device code names, and of the authorization that
    came of it."""
    parts = opaque_tokens.split(params.get("device_code") or "")
    return [(DEVICE_REQUESTS, parts[0]), (AUTHORIZATIONS, parts[0])] if parts else []


async def poll(exchange: Exchange) -> dict[str, Any]:
    """Returns the token response once, when the user has allowed the request.

    Until then it raises `AuthorizationPending` or `SlowDown`, afterwards `AccessDenied`,
    `ExpiredToken` or `InvalidGrant`. Of several polls at once one gets the tokens. A later one is
    refused and revokes nothing: devices repeat a request whose response was lost.
    """
    now = exchange.service.clock.now()
    request = _check(exchange, now)
    # The authorization has the request's id and is stored when the user allows it.
    authorization: Authorization | None = exchange.found[1]
    if authorization is None:
        raise await _not_yet(exchange, request, now)
    grantee = await find_live(exchange, authorization)
    with SESSION_LIVE:
        if grantee.session is None:
            raise InvalidGrant("the session that the device was allowed in has ended")
    granted = scopes.grantable(exchange.service.config, exchange.client, authorization.scopes)
    refresh = None
    if scopes.OFFLINE_ACCESS in granted:
        refresh = new_refresh_token(exchange.service, authorization.id, now)
    text = refresh.text if refresh else None
    response = await token_response.respond(
        exchange.service, grantee, scopes=granted, refresh_token=text, now=now
    )
    await _spend(exchange, request, refresh, now)
    return response


def _check(exchange: Exchange, now: datetime) -> DeviceRequest:
    with checks.DEVICE_CODE_SENT:
        sent = exchange.params.required("device_code")
    with checks.DEVICE_CODE_KNOWN:
        request = _find(exchange, sent)
    with checks.DEVICE_CODE_CLIENT:
        refuse_foreign(exchange, request, "device code")
    with checks.DEVICE_CODE_UNUSED:
        if request.redeemed_at is not None:
            since = refusal_details.span(now - request.redeemed_at)
            raise _used(f"The device code gave tokens {since} ago.")
    with checks.DEVICE_ALLOWED:
        if request.decided_at is not None and not request.is_allowed:
            since = refusal_details.span(now - request.decided_at)
            story = f"The person denied the request {since} ago."
            raise AccessDenied("the user denied the request", story=story)
    with checks.DEVICE_CODE_UNEXPIRED:
        if request.ends_at <= now:
            late = refusal_details.span(now - request.ends_at)
            lasts = refusal_details.span(request.ends_at - request.created_at)
            story = f"The device code expired {late} ago; a device code lasts {lasts}."
            raise ExpiredToken("the device code has expired", story=story)
    return request


def _find(exchange: Exchange, sent: str) -> DeviceRequest:
    request: DeviceRequest | None = exchange.found[0] if exchange.found else None
    parts = opaque_tokens.split(sent)
    if (
        request is None
        or parts is None
        or not opaque_tokens.matches(parts[1], request.secret_hash)
    ):
        config, due = exchange.service.config, "a device code"
        story = refusal_details.unknown(config, sent, due, 1, request)
        raise InvalidGrant("the device code is unknown or has expired", story=story)
    return request


async def _not_yet(
    exchange: Exchange, request: DeviceRequest, now: datetime
) -> AuthorizationPending:
    """Returns the error that asks the device to poll again. Raises `SlowDown` when it polled too
    soon."""
    interval = timedelta(seconds=request.interval_seconds)
    # RFC 8628 3.5: each SlowDown makes the interval 5 seconds longer, for this and all later
    # polls.
    is_early = request.polled_at is not None and now < request.polled_at + interval
    longer = request.interval_seconds + INTERVAL_SECONDS * is_early
    noted = Update(
        DEVICE_REQUESTS,
        request.id,
        set={"polled_at": now, "interval_seconds": longer},
        expect={"polled_at": request.polled_at},
    )
    try:
        await exchange.service.store.commit(noted)
    except Stale:  # another poll at the same moment
        is_early = True
    with checks.DEVICE_PACE:
        if is_early:
            story = f"The device polls too often: it has to wait {longer} s between two polls."
            raise SlowDown("the device polls too often", story=story)
    return AuthorizationPending("the user has not decided yet")


async def _spend(
    exchange: Exchange, request: DeviceRequest, refresh: RefreshToken | None, now: datetime
) -> None:
    """Marks the device code as redeemed: of several requests at once, one does."""
    changes: dict[str, object] = {"expires_at": last_token_ends_at(exchange, refresh, now)}
    if refresh:
        changes["refresh"] = refresh.record
    unused = {"redeemed_at": None}
    try:
        await commit_settled(
            exchange.service.store,
            Update(DEVICE_REQUESTS, request.id, set={"redeemed_at": now}, expect=unused),
            Update(AUTHORIZATIONS, request.id, set=changes, expect={"revoked_at": None}),
        )
    except Stale:
        with checks.DEVICE_CODE_UNUSED:
            raise _used("Another request used the device code at the same moment.") from None


def _used(story: str) -> InvalidGrant:
    return InvalidGrant("the device code was used before", story=story)


GRANT: Final = Grant(
    exchange=poll,
    reads=reads,
    checks=checks.POLL_CHECKS,
    api_name="OIDC_GRANT_TYPE_DEVICE_CODE",
)
