"""Revocation (RFC 7009): a client ends tokens that were issued to it."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Final

from idp.config.settings import Config
from idp.foundation import opaque_tokens
from idp.oauth.authentication import client_authentication
from idp.oauth.authentication.client_authentication import Accepted
from idp.oauth.params import Params
from idp.oauth.paths import REVOKE
from idp.oauth.refusals.check import ONCE
from idp.oauth.refusals.introspect import TOKEN_SENT
from idp.oauth.tokens import access_tokens, authorizations
from idp.oauth.tokens.access_tokens import AccessToken
from idp.records import (
    AUTHORIZATIONS,
    REVOKED_TOKENS,
    Authorization,
    RevokedToken,
)
from idp.service import Service
from storage import Conflict, Insert, Key

_REFRESH_SECRETS = 2
_ACCEPTED: Final = Accepted(REVOKE)


async def revoke(service: Service, authorization: str | None, params: Params) -> None:
    """Revokes the token in the form `params`: an access token alone, a refresh token with its
    authorization.

    An unknown token is no error; another client's token is left unchanged. A service user may
    revoke its own tokens. `authorization` is the header of that name. Raises `OAuthError` if the
    client or the request is refused.
    """
    with ONCE:
        params.refuse_repeated()
    sent = params.get("token") or ""
    parts = opaque_tokens.split(sent, _REFRESH_SECRETS)
    keys: list[Key] = [(AUTHORIZATIONS, parts[0])] if parts else []
    caller, records, _ = await client_authentication.authenticate_any(
        service, authorization, params, keys, _ACCEPTED
    )
    with TOKEN_SENT:
        params.required("token")
    if parts:
        family = records.of(AUTHORIZATIONS, parts[0])
        await _revoke_family(service, caller.id, family, parts[1])
        return
    token = await access_tokens.read(service, sent)
    if token is not None and token.client_id == caller.id:
        await _revoke_one(service, token)


async def _revoke_family(
    service: Service, client_id: str, authorization: Authorization | None, family: str
) -> None:
    """Revokes the authorization of a refresh token, also by one that was rotated: each token
    of a family can end it."""
    refresh = authorization.refresh if authorization else None
    if (
        authorization is not None
        and refresh is not None
        and authorization.client_id == client_id
        and opaque_tokens.matches(family, refresh.family_hash)
    ):
        await authorizations.revoke(service, authorization, reason="revoked by the client")


async def _revoke_one(service: Service, token: AccessToken) -> None:
    expires_at = datetime.fromtimestamp(token.exp, UTC)
    # An expired token is invalid by itself and needs no record.
    if expires_at <= service.clock.now():
        return
    revoked = RevokedToken(id=token.jti, expires_at=expires_at + _extra_lifetime(service.config))
    with suppress(Conflict):  # it was revoked before
        await service.store.commit(Insert(REVOKED_TOKENS, revoked))


def _extra_lifetime(config: Config) -> timedelta:
    """Returns how much longer than a token the tokens may be valid that it was exchanged for.
    They must be refused as well, so the record of the revocation is stored until then.
    """
    longest = max(access_tokens.lifetime(config, "opaque"), access_tokens.lifetime(config, "jwt"))
    return timedelta(seconds=config.refresh_token_seconds) + longest
