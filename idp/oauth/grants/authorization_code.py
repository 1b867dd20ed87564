"""The authorization code grant (RFC 6749 4.1.3, OpenID Connect Core 3.1.3)."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from idp.foundation import opaque_tokens
from idp.oauth import pkce, scopes
from idp.oauth.errors import InvalidGrant
from idp.oauth.grants.token_request import (
    FOLLOWED,
    Grant,
    RefreshToken,
    TokenRequest,
    authorization_of,
    confirmed,
    find_live,
    last_token_ends_at,
    new_refresh_token,
    refuse_foreign,
    refuse_replay,
    use_up,
)
from idp.oauth.params import Params
from idp.oauth.refusals import details as refusal_details
from idp.oauth.refusals import token as checks
from idp.oauth.refusals import uri_difference
from idp.oauth.tokens import token_response
from idp.oauth.tokens.authorizations import AuthorizedClient
from idp.records import AUTHORIZATIONS, INSTANCE_ID, INSTANCES, Authorization, Code
from storage import Key, Stale, Update, Value


def reads(params: Params) -> list[Key]:
    """Returns the keys of the authorization that the request's code names, and of the
    installation; none without a code."""
    parts = opaque_tokens.split(params.get("code") or "")
    return [(AUTHORIZATIONS, parts[0]), (INSTANCES, INSTANCE_ID)] if parts else []


async def redeem(request: TokenRequest) -> dict[str, Any]:
    """Returns the token response for a code, which can be redeemed once.

    A correct second request is a replay and revokes the tokens of the first one (RFC 6749 4.1.2),
    unless those reached no one: then they are replaced. A wrong secret, client, redirect_uri or
    verifier leaves the code valid. Raises `InvalidGrant` and `InvalidRequest`.
    """
    config, now = request.service.config, request.service.clock.now()
    authorization, code = _check(request)
    if code.redeemed_at is not None:
        request = await confirmed(request, AUTHORIZATIONS, authorization.id)
        authorization, code = _check(request)
    with checks.CODE_UNUSED:
        # The secret, client and verifier are right here: no client without them can cause
        # a revocation.
        if code.redeemed_at is not None and not _is_unanswered(authorization, code):
            since = refusal_details.span(now - code.redeemed_at)
            details = f"The code was redeemed {since} ago by the same client."
            await refuse_replay(request, authorization, "code", details)
    with checks.CODE_UNEXPIRED:
        if code.expires_at <= now:
            raise InvalidGrant("the code has expired", details=_expiry_details(request, code, now))
    authorized = await find_live(request, authorization)
    with checks.SESSION_LIVE:
        if authorized.session is None:
            raise InvalidGrant("the session that the code came from has ended")
    granted = scopes.grantable(config, request.client, authorization.scopes)
    refresh = None
    if scopes.OFFLINE_ACCESS in granted:
        # Only with `offline_access`: without it the tokens end with the session (OpenID Connect
        # Core 11).
        refresh = new_refresh_token(request.service, authorization.id, now)
    response = await token_response.respond(
        request.service,
        authorized,
        scopes=granted,
        refresh_token=refresh.text if refresh else None,
        with_nonce=True,
        now=now,
    )
    await _mark_redeemed(request, authorized, code, refresh, now)
    return response


def _check(request: TokenRequest) -> tuple[Authorization, Code]:
    params = request.params
    with checks.CODE_SENT:
        redirect_uri, sent = params.required("redirect_uri"), params.required("code")
    with checks.CODE_KNOWN:
        authorization, code = _find(request, sent)
    with checks.CODE_CLIENT:
        refuse_foreign(request, authorization, "code")
    with checks.CODE_REDIRECT_URI:
        if code.redirect_uri != redirect_uri:
            raise InvalidGrant(
                "redirect_uri differs from the one of the authorization request",
                details=uri_difference.difference(
                    redirect_uri, [code.redirect_uri], "was in the authorization request"
                ),
            )
    with checks.CODE_VERIFIER:
        pkce.verify(code.code_challenge, params.get("code_verifier"))
    return authorization, code


def _find(request: TokenRequest, sent: str) -> tuple[Authorization, Code]:
    parts = opaque_tokens.split(sent)
    authorization = authorization_of(request, parts)
    code = authorization.code if authorization else None
    if (
        authorization is None
        or code is None
        or parts is None
        or not opaque_tokens.matches(parts[1], code.hash)
    ):
        config, expected_kind = request.service.config, "an authorization code"
        details = refusal_details.unknown(config, sent, expected_kind, 1, authorization)
        raise InvalidGrant("the code is unknown or has expired", details=details)
    return authorization, code


def _expiry_details(request: TokenRequest, code: Code, now: datetime) -> str:
    lifetime_seconds = request.service.config.code_seconds
    late = refusal_details.span(now - code.expires_at)
    return f"The code expired {late} ago; a code lasts {lifetime_seconds} s."


def _is_unanswered(authorization: Authorization, code: Code) -> bool:
    """Returns whether the tokens of the last redemption reached no one, as far as is known."""
    was_refreshed = authorization.refresh and authorization.refresh.previous_hash
    return code.redeemed_at == code.unanswered_at and not was_refreshed


async def _mark_redeemed(
    request: TokenRequest,
    authorized: AuthorizedClient,
    code: Code,
    refresh: RefreshToken | None,
    now: datetime,
) -> None:
    """Marks the code as redeemed. Of several concurrent requests one succeeds; the others are
    replays."""
    authorization = authorized.authorization
    ends_at = last_token_ends_at(request, refresh, now)
    # The condition is part of the write, so the two requests of a race cannot both succeed.
    expected: dict[str, Value] = {"code.redeemed_at": code.redeemed_at, "revoked_at": None}
    if authorization.refresh:
        expected["refresh.previous_hash"] = None
    changes: dict[str, object] = {
        "code.redeemed_at": now,
        "code.unanswered_at": None,
        "expires_at": ends_at,
    }
    if refresh:
        changes["refresh"] = refresh.record
    try:
        await use_up(
            request,
            Update(AUTHORIZATIONS, authorization.id, set=changes, expect=expected),
            if_lost=Update(
                AUTHORIZATIONS,
                authorization.id,
                set={"code.unanswered_at": now},
                expect={"code.redeemed_at": now},
            ),
        )
    except Stale:
        with checks.CODE_UNUSED:
            details = (
                "Another request redeemed the code, or revoked the grant, at the same moment."
            )
            await refuse_replay(request, authorization, "code", details)


GRANT: Final = Grant(
    respond=redeem,
    reads=reads,
    follows=FOLLOWED,
    checks=checks.CODE_CHECKS,
    api_name="OIDC_GRANT_TYPE_AUTHORIZATION_CODE",
)
