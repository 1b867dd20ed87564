"""The refresh token grant (RFC 6749 6, OpenID Connect Core 12), with rotation (RFC 9700
4.14.2)."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final

from idp.foundation import base64url, metrics, opaque_tokens
from idp.oauth import scopes
from idp.oauth.errors import InvalidGrant, RequestRefused
from idp.oauth.grants import lost_answers
from idp.oauth.grants.token_request import (
    FOLLOWED,
    Grant,
    TokenRequest,
    authorization_of,
    confirmed,
    find_live,
    refuse_foreign,
    refuse_replay,
    use_up,
)
from idp.oauth.params import Params
from idp.oauth.refusals import details as refusal_details
from idp.oauth.refusals import safe_display
from idp.oauth.refusals import token as checks
from idp.oauth.tokens import acting, authorizations, token_response
from idp.records import AUTHORIZATIONS, INSTANCE_ID, INSTANCES, Authorization, Refresh
from storage import Key, Stale, Update

_SECRETS = 2


def reads(params: Params) -> list[Key]:
    """Returns the keys of the authorization that the refresh token names, and of the
    installation; none without a token."""
    parts = opaque_tokens.split(params.get("refresh_token") or "", _SECRETS)
    return [(AUTHORIZATIONS, parts[0]), (INSTANCES, INSTANCE_ID)] if parts else []


async def rotate(request: TokenRequest) -> dict[str, Any]:
    """Returns the token response, with a new refresh token that replaces the one that was sent.

    A refresh token that was replaced before is a replay, and revokes its authorization. But the
    last one gives the same successor once more, while that was not used: for as long as the
    application allows, and until it expires if the successor reached no one. A forged token
    writes nothing. A narrower `scope` applies to this response only. Raises `InvalidGrant`,
    `InvalidRequest` and `InvalidScope`.
    """
    now = request.service.clock.now()
    request, authorization, refresh, secret = await _check_current(request, now)
    with checks.REFRESH_UNEXPIRED:
        _check_unexpired(authorization, refresh, now)
    with checks.SCOPE_GRANTED:
        requested = _scopes(request.params, authorization)
    authorized = await find_live(request, authorization)
    granted = scopes.grantable(request.service.config, request.client, requested)
    successor = _successor(request, secret)
    response = await token_response.respond(
        request.service,
        authorized,
        scopes=granted,
        refresh_token=request.params.required("refresh_token").removesuffix(secret) + successor,
        now=now,
    )
    # A repeated use of the last secret has its successor stored already.
    is_repeated = not opaque_tokens.matches(secret, refresh.current_hash)
    if not is_repeated or _is_unanswered(refresh):
        await _replace(request, authorization, refresh, secret, successor, now)
    metrics.REFRESHES.count("repeated" if is_repeated else "rotated")
    return response


async def _rotate_and_count(request: TokenRequest) -> dict[str, Any]:
    try:
        return await rotate(request)
    except RequestRefused as error:
        is_replay = error.check is checks.REFRESH_CURRENT
        metrics.REFRESHES.count("replayed" if is_replay else "refused")
        raise


async def _check_current(
    request: TokenRequest, now: datetime
) -> tuple[TokenRequest, Authorization, Refresh, str]:
    """Returns the authorization of a secret that may be used, with the request that was decided
    by. Revokes the family of one that may not, and raises `InvalidGrant`."""
    authorization, refresh, secret = _check(request)
    if opaque_tokens.matches(secret, refresh.current_hash):
        return request, authorization, refresh, secret
    request = await confirmed(request, AUTHORIZATIONS, authorization.id)
    authorization, refresh, secret = _check(request)
    is_current = opaque_tokens.matches(secret, refresh.current_hash)
    with checks.REFRESH_CURRENT:
        if not is_current and not _may_repeat(request, refresh, secret, now):
            since = refusal_details.span(now - refresh.rotated_at)
            details = f"The refresh token was rotated {since} ago: this one was used."
            await _refuse_rotated(request, authorization, refresh, secret, details)
    return request, authorization, refresh, secret


def _check_unexpired(authorization: Authorization, refresh: Refresh, now: datetime) -> None:
    # With an actor the authorization may end before its refresh token, also for records of an
    # earlier release.
    latest_end = min(refresh.expires_at, acting.ends_at(authorization))
    ends_at = min(refresh.idle_expires_at, latest_end)
    if ends_at <= now:
        why = "it was not used for too long" if ends_at < latest_end else "its time is up"
        details = f"The refresh token expired {refusal_details.span(now - ends_at)} ago: {why}."
        raise InvalidGrant("the refresh token has expired", details=details)


def _successor(request: TokenRequest, secret: str) -> str:
    """Returns the next secret. It is derived from this one, so that a repeated request gets the
    same without its text being stored."""
    return base64url.encode(request.service.master_key.mac("refresh-token", secret))


def _may_repeat(request: TokenRequest, refresh: Refresh, secret: str, now: datetime) -> bool:
    """Returns whether the secret is the last one before the current, and the current one was never
    used, and either reached no one or is still new."""
    grace = timedelta(seconds=request.client.refresh_token_reuse_seconds)
    return (
        opaque_tokens.matches(secret, refresh.previous_hash)
        # Clocks of two servers differ, and one may be set back.
        and (_is_unanswered(refresh) or abs(now - refresh.rotated_at) < grace)
        and opaque_tokens.matches(_successor(request, secret), refresh.current_hash)
    )


def _is_unanswered(refresh: Refresh) -> bool:
    """Returns whether the current secret reached no one, as far as is known."""
    return refresh.unanswered_hash == refresh.current_hash


def _check(request: TokenRequest) -> tuple[Authorization, Refresh, str]:
    with checks.REFRESH_SENT:
        sent = request.params.required("refresh_token")
    with checks.REFRESH_KNOWN:
        authorization, refresh, secret = _find(request, sent)
    with checks.REFRESH_CLIENT:
        refuse_foreign(request, authorization, "refresh token")
    with checks.REFRESH_UNREVOKED:
        if authorization.revoked_at is not None:
            since = refusal_details.span(request.service.clock.now() - authorization.revoked_at)
            details = f"The grant was revoked {since} ago, with every token that came of it."
            raise InvalidGrant("the refresh token was revoked", details=details)
    return authorization, refresh, secret


def _find(request: TokenRequest, sent: str) -> tuple[Authorization, Refresh, str]:
    parts = opaque_tokens.split(sent, _SECRETS)
    authorization = authorization_of(request, parts)
    refresh = authorization.refresh if authorization else None
    if (
        authorization is None
        or refresh is None
        or parts is None
        or not opaque_tokens.matches(parts[1], refresh.family_hash)
    ):
        config, expected_kind = request.service.config, "a refresh token"
        details = refusal_details.unknown(config, sent, expected_kind, _SECRETS, authorization)
        raise InvalidGrant("the refresh token is unknown or has expired", details=details)
    return authorization, refresh, parts[2]


def _scopes(params: Params, authorization: Authorization) -> list[str]:
    # RFC 6749 6: without `scope` the original one applies, and it can only be narrowed.
    sent = params.get("scope")
    if sent is None:
        return authorization.scopes
    requested = scopes.parse(sent)
    if not requested or not set(requested) <= set(authorization.scopes):
        granted = " ".join(authorization.scopes)
        sent_words = safe_display.in_words("scope", sent)
        details = f"{sent_words} was asked for, {refusal_details.quoted(granted)} granted."
        raise scopes.refusal("scope is larger than what was granted", sent, details=details)
    return requested


async def _replace(
    request: TokenRequest,
    authorization: Authorization,
    refresh: Refresh,
    secret: str,
    successor: str,
    now: datetime,
) -> None:
    """Replaces the current secret. Of several concurrent requests one succeeds; the others
    end the family.

    Where the last secret may be used again, the others are such a use and succeed.
    """
    idle = now + timedelta(seconds=request.service.config.refresh_token_idle_seconds)
    successor_hash = opaque_tokens.digest(successor)
    changes = {
        "refresh.current_hash": successor_hash,
        "refresh.previous_hash": opaque_tokens.digest(secret),
        "refresh.unanswered_hash": None,
        "refresh.rotated_at": now,
        "refresh.idle_expires_at": min(idle, refresh.expires_at),
    }
    expected = {"refresh.current_hash": refresh.current_hash, "revoked_at": None}
    try:
        await use_up(
            request,
            Update(AUTHORIZATIONS, authorization.id, set=changes, expect=expected),
            if_lost=Update(
                AUTHORIZATIONS,
                authorization.id,
                set={"refresh.unanswered_hash": successor_hash},
                expect={"refresh.current_hash": successor_hash},
            ),
        )
    except Stale:
        latest = await request.service.store.get(AUTHORIZATIONS, authorization.id)
        refreshed = latest.refresh if latest and latest.revoked_at is None else None
        if refreshed and _may_repeat(request, refreshed, secret, now):
            return
        with checks.REFRESH_CURRENT:
            details = "Another request used the refresh token, or revoked it, at the same moment."
            await _refuse_rotated(request, authorization, refreshed, secret, details)


async def _refuse_rotated(
    request: TokenRequest,
    authorization: Authorization,
    refresh: Refresh | None,
    secret: str,
    details: str,
) -> None:
    """Revokes the family of a rotated refresh token, and raises `InvalidGrant`; Unavailable while
    it is not certain that the first use was answered.

    The last secret before a current one that was never used most likely comes from a client that
    did not get its response, and not from an attacker: the events of the two differ. Both end the
    family, because the service cannot be certain (RFC 9700 4.14.2).
    """
    if refresh is None or not opaque_tokens.matches(secret, refresh.previous_hash):
        await refuse_replay(request, authorization, "refresh token", details)
    lost_answers.refuse_while_uncertain(request.service)
    await authorizations.revoke(
        request.service,
        authorization,
        reason="refresh token repeated too late",
        type="token.refresh_repeated",
    )
    raise InvalidGrant(
        "the refresh token was used before; every token that came of it is revoked",
        details=f"{details} Its successor was never used: perhaps the answer with it was lost."
        " Every token that came of it is revoked.",
        fix="Store the new refresh token before anything else is done; refreshTokenReuseSeconds"
        " lets the last one be used again for a while.",
    )


GRANT: Final = Grant(
    respond=_rotate_and_count,
    reads=reads,
    follows=FOLLOWED,
    checks=checks.REFRESH_CHECKS,
    api_name="OIDC_GRANT_TYPE_REFRESH_TOKEN",
)
