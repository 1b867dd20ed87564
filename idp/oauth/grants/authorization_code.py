"""The authorization code grant (RFC 6749 4.1.3, OpenID Connect Core 3.1.3)."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from idp import credentials
from idp.identity.subjects import Grantee
from idp.oauth import pkce, scopes
from idp.oauth.errors import InvalidGrant
from idp.oauth.grants.exchange import (
    Exchange,
    RefreshToken,
    find_live,
    new_refresh_token,
    refuse_replay,
    respond,
)
from idp.oauth.params import Params
from idp.oauth.tokens import lifetime_seconds
from idp.records import AUTHORIZATIONS, Authorization, Code
from storage import Key, Stale, Update


def reads(params: Params) -> Key | None:
    """The authorization that the code names."""
    parts = credentials.split(params.get("code") or "")
    return (AUTHORIZATIONS, parts[0]) if parts else None


async def redeem(exchange: Exchange) -> dict[str, Any]:
    """Redeem a code, once: refuse, sign, then one conditional write.

    A second redemption with everything right is a replay and revokes what the first one gave;
    a wrong secret, client, redirect_uri or verifier spends nothing.
    """
    now = exchange.service.clock.now()
    authorization, code = _check(exchange)
    if code.redeemed_at is not None:
        await refuse_replay(exchange, authorization, "code")
    if code.expires_at <= now:
        raise InvalidGrant("the code has expired")
    grantee = await find_live(exchange, authorization)
    if grantee.session is None:
        raise InvalidGrant("the session that the code came from has ended")
    granted = scopes.grantable(exchange.client, authorization.scopes)
    refresh = None
    if scopes.OFFLINE_ACCESS in granted:
        refresh = new_refresh_token(exchange.service, authorization.id, now)
    response = await respond(
        exchange,
        grantee,
        scopes=granted,
        refresh_token=refresh.text if refresh else None,
        with_nonce=True,
        now=now,
    )
    await _spend(exchange, grantee, refresh, now)
    return response


def _check(exchange: Exchange) -> tuple[Authorization, Code]:
    params, authorization = exchange.params, exchange.record
    redirect_uri = params.required("redirect_uri")
    parts = credentials.split(params.required("code"))
    code = authorization.code if authorization else None
    if authorization is None or code is None or parts is None:
        raise InvalidGrant("the code is unknown or has expired")
    if not credentials.matches(parts[1], code.hash):
        raise InvalidGrant("the code is unknown or has expired")
    if authorization.client_id != exchange.client.id:
        raise InvalidGrant("the code was issued to another client")
    if code.redirect_uri != redirect_uri:
        raise InvalidGrant("redirect_uri differs from the one of the authorization request")
    pkce.verify(code.code_challenge, params.get("code_verifier"))
    return authorization, code


async def _spend(
    exchange: Exchange, grantee: Grantee, refresh: RefreshToken | None, now: datetime
) -> None:
    """Spend the code; of several that try at once, one does and the family dies for the rest."""
    authorization = grantee.authorization
    lasts = timedelta(seconds=lifetime_seconds(exchange.service, exchange.client))
    ends = now + lasts
    if refresh:
        ends = max(ends, refresh.record.expires_at + lasts)
    unspent = {"code.redeemed_at": None, "revoked_at": None}
    changes: dict[str, object] = {"code.redeemed_at": now, "expires_at": ends}
    if refresh:
        changes["refresh"] = refresh.record
    try:
        await exchange.service.store.commit(
            Update(AUTHORIZATIONS, authorization.id, set=changes, expect=unspent)
        )
    except Stale:
        await refuse_replay(exchange, authorization, "code")
