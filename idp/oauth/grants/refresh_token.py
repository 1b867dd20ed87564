"""The refresh token grant (RFC 6749 6, OpenID Connect Core 12), with rotation."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from idp import credentials
from idp.oauth import scopes
from idp.oauth.errors import InvalidGrant, InvalidScope
from idp.oauth.grants.exchange import Exchange, find_live, refuse_replay, respond
from idp.oauth.params import Params
from idp.records import AUTHORIZATIONS, Authorization, Refresh
from storage import Key, Stale, Update

_SECRETS = 2


def reads(params: Params) -> Key | None:
    """The authorization that the refresh token names."""
    parts = credentials.split(params.get("refresh_token") or "", _SECRETS)
    return (AUTHORIZATIONS, parts[0]) if parts else None


async def rotate(exchange: Exchange) -> dict[str, Any]:
    """Rotate a refresh token: refuse, sign, then one conditional write.

    A spent token of the right family and client is a replay and ends the family; a forged one
    writes nothing. A narrower `scope` holds for this response only.
    """
    now = exchange.service.clock.now()
    authorization, refresh, secret = _check(exchange)
    if not credentials.matches(secret, refresh.current_hash):
        await refuse_replay(exchange, authorization, "refresh token")
    if min(refresh.idle_expires_at, refresh.expires_at) <= now:
        raise InvalidGrant("the refresh token has expired")
    wanted = _scopes(exchange.params, authorization)
    grantee = await find_live(exchange, authorization)
    successor = exchange.service.random.token()
    response = await respond(
        exchange,
        grantee,
        scopes=wanted,
        refresh_token=exchange.params.required("refresh_token").removesuffix(secret) + successor,
        with_nonce=False,
        now=now,
    )
    await _replace(exchange, authorization, refresh, successor, now)
    return response


def _check(exchange: Exchange) -> tuple[Authorization, Refresh, str]:
    authorization = exchange.record
    refresh = authorization.refresh if authorization else None
    parts = credentials.split(exchange.params.required("refresh_token"), _SECRETS)
    if authorization is None or refresh is None or parts is None:
        raise InvalidGrant("the refresh token is unknown or has expired")
    if not credentials.matches(parts[1], refresh.family_hash):
        raise InvalidGrant("the refresh token is unknown or has expired")
    if authorization.client_id != exchange.client.id:
        raise InvalidGrant("the refresh token was issued to another client")
    if authorization.revoked_at is not None:
        raise InvalidGrant("the refresh token was revoked")
    return authorization, refresh, parts[2]


def _scopes(params: Params, authorization: Authorization) -> list[str]:
    requested = params.get("scope")
    if requested is None:
        return authorization.scopes
    wanted = scopes.parse(requested)
    if not wanted or not set(wanted) <= set(authorization.scopes):
        raise InvalidScope("scope is larger than what was granted")
    return wanted


async def _replace(
    exchange: Exchange,
    authorization: Authorization,
    refresh: Refresh,
    successor: str,
    now: datetime,
) -> None:
    """Replace the current secret; of several that try at once, one does, the family dies."""
    idle = now + timedelta(seconds=exchange.service.config.refresh_token_idle_seconds)
    changes = {
        "refresh.current_hash": credentials.digest(successor),
        "refresh.previous_hash": refresh.current_hash,
        "refresh.rotated_at": now,
        "refresh.idle_expires_at": min(idle, refresh.expires_at),
    }
    unspent = {"refresh.current_hash": refresh.current_hash, "revoked_at": None}
    try:
        await exchange.service.store.commit(
            Update(AUTHORIZATIONS, authorization.id, set=changes, expect=unspent)
        )
    except Stale:
        await refuse_replay(exchange, authorization, "refresh token")
