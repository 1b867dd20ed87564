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
from idp.oauth.grants.token_request import (
    Grant,
    RefreshToken,
    TokenRequest,
    confirmed,
    find_live,
    last_token_ends_at,
    new_refresh_token,
    refuse_foreign,
    use_up,
)
from idp.oauth.params import Params
from idp.oauth.refusals import details as refusal_details
from idp.oauth.refusals import device as checks
from idp.oauth.refusals.token import SESSION_LIVE
from idp.oauth.tokens import token_response
from idp.records import AUTHORIZATIONS, DEVICE_REQUESTS, Authorization, DeviceRequest
from storage import Key, Stale, Update


def reads(params: Params) -> list[Key]:
    """Returns the keys of the request that the device code names, and of the authorization of that
    request."""
    parts = opaque_tokens.split(params.get("device_code") or "")
    return [(DEVICE_REQUESTS, parts[0]), (AUTHORIZATIONS, parts[0])] if parts else []


async def poll(request: TokenRequest) -> dict[str, Any]:
    """Returns the token response once, when the user has allowed the request.

    Until then it raises `AuthorizationPending` or `SlowDown`, afterwards `AccessDenied`,
    `ExpiredToken` or `InvalidGrant`. Of several concurrent polls one gets the tokens. A later one
    is refused and revokes nothing: devices repeat a request whose response was lost.
    """
    now = request.service.clock.now()
    device_request = _find(request)
    if device_request.redeemed_at is not None:
        request = await confirmed(request, DEVICE_REQUESTS, device_request.id)
        device_request = _find(request)
    _check(device_request, now)
    # The authorization has the request's id and is stored when the user allows it.
    authorization: Authorization | None = request.records.of(AUTHORIZATIONS, device_request.id)
    if authorization is None:
        raise await _pending_error(request, device_request, now)
    authorized = await find_live(request, authorization)
    with SESSION_LIVE:
        if authorized.session is None:
            raise InvalidGrant("the session that the device was allowed in has ended")
    granted = scopes.grantable(request.service.config, request.client, authorization.scopes)
    refresh = None
    if scopes.OFFLINE_ACCESS in granted:
        refresh = new_refresh_token(request.service, authorization.id, now)
    text = refresh.text if refresh else None
    response = await token_response.respond(
        request.service, authorized, scopes=granted, refresh_token=text, now=now
    )
    await _mark_redeemed(request, device_request, refresh, now)
    return response


def _find(request: TokenRequest) -> DeviceRequest:
    with checks.DEVICE_CODE_SENT:
        sent = request.params.required("device_code")
    with checks.DEVICE_CODE_KNOWN:
        device_request = _known(request, sent)
    with checks.DEVICE_CODE_CLIENT:
        refuse_foreign(request, device_request, "device code")
    return device_request


def _check(device_request: DeviceRequest, now: datetime) -> None:
    redeemed_at = device_request.redeemed_at
    with checks.DEVICE_CODE_UNUSED:
        if redeemed_at is not None and redeemed_at != device_request.unanswered_at:
            since = refusal_details.span(now - redeemed_at)
            raise _used(f"The device code gave tokens {since} ago.")
    with checks.DEVICE_ALLOWED:
        if device_request.decided_at is not None and not device_request.is_allowed:
            since = refusal_details.span(now - device_request.decided_at)
            details = f"The person denied the request {since} ago."
            raise AccessDenied("the user denied the request", details=details)
    with checks.DEVICE_CODE_UNEXPIRED:
        if device_request.ends_at <= now:
            late = refusal_details.span(now - device_request.ends_at)
            lifetime = refusal_details.span(device_request.ends_at - device_request.created_at)
            details = f"The device code expired {late} ago; a device code lasts {lifetime}."
            raise ExpiredToken("the device code has expired", details=details)


def _known(request: TokenRequest, sent: str) -> DeviceRequest:
    parts = opaque_tokens.split(sent)
    device_request: DeviceRequest | None = (
        request.records.of(DEVICE_REQUESTS, parts[0]) if parts else None
    )
    if (
        device_request is None
        or parts is None
        or not opaque_tokens.matches(parts[1], device_request.secret_hash)
    ):
        config, expected_kind = request.service.config, "a device code"
        details = refusal_details.unknown(config, sent, expected_kind, 1, device_request)
        raise InvalidGrant("the device code is unknown or has expired", details=details)
    return device_request


async def _pending_error(
    request: TokenRequest, device_request: DeviceRequest, now: datetime
) -> AuthorizationPending:
    """Returns the error that asks the device to poll again. Raises `SlowDown` when it polled too
    soon."""
    interval = timedelta(seconds=device_request.interval_seconds)
    # RFC 8628 3.5: each SlowDown makes the interval 5 seconds longer, for this and all later
    # polls.
    is_early = device_request.polled_at is not None and now < device_request.polled_at + interval
    new_interval_seconds = device_request.interval_seconds + (INTERVAL_SECONDS if is_early else 0)
    update = Update(
        DEVICE_REQUESTS,
        device_request.id,
        set={"polled_at": now, "interval_seconds": new_interval_seconds},
        expect={"polled_at": device_request.polled_at},
    )
    try:
        await request.service.store.commit(update)
    except Stale:  # another poll at the same moment
        is_early = True
    with checks.DEVICE_INTERVAL:
        if is_early:
            details = (
                f"The device polls too often: it has to wait {new_interval_seconds} s between two"
                " polls."
            )
            raise SlowDown("the device polls too often", details=details)
    return AuthorizationPending("the user has not decided yet")


async def _mark_redeemed(
    request: TokenRequest,
    device_request: DeviceRequest,
    refresh: RefreshToken | None,
    now: datetime,
) -> None:
    """Marks the device code as redeemed: of several concurrent requests, one succeeds."""
    changes: dict[str, object] = {"expires_at": last_token_ends_at(request, refresh, now)}
    if refresh:
        changes["refresh"] = refresh.record
    redeemed_at = {"redeemed_at": device_request.redeemed_at}
    redeemed_now = {"redeemed_at": now}
    unanswered = {"unanswered_at": now}
    redeemed = {**redeemed_now, "unanswered_at": None}
    request_id = device_request.id
    try:
        await use_up(
            request,
            Update(DEVICE_REQUESTS, request_id, set=redeemed, expect=redeemed_at),
            Update(AUTHORIZATIONS, request_id, set=changes, expect={"revoked_at": None}),
            if_lost=Update(DEVICE_REQUESTS, request_id, set=unanswered, expect=redeemed_now),
        )
    except Stale:
        with checks.DEVICE_CODE_UNUSED:
            raise _used("Another request used the device code at the same moment.") from None


def _used(details: str) -> InvalidGrant:
    return InvalidGrant("the device code was used before", details=details)


GRANT: Final = Grant(
    respond=poll,
    reads=reads,
    checks=checks.POLL_CHECKS,
    api_name="OIDC_GRANT_TYPE_DEVICE_CODE",
)
