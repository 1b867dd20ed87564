"""The UserInfo endpoint's answer (OpenID Connect Core 5.3)."""

from __future__ import annotations

from typing import Any

from idp.oauth import bearer, claims, tokens
from idp.oauth.checks.userinfo import TOKEN_SCOPE
from idp.oauth.errors import InsufficientScope, OAuthError
from idp.oauth.params import Params
from idp.oauth.scopes import OPENID
from idp.service import Service


async def answer(service: Service, authorization: str | None, params: Params) -> dict[str, Any]:
    """The claims that the token's scopes release. Raises OAuthError."""
    caller = await bearer.authenticate(service, bearer.read(authorization, params))
    with TOKEN_SCOPE:
        if OPENID not in caller.scopes:
            raise InsufficientScope("the token does not have the scope openid")
    return claims.for_scopes(caller.user, caller.scopes)


async def client_of(service: Service, authorization: str | None, params: Params) -> str | None:
    """The client that the request's token was issued to, whether or not it still stands."""
    try:
        claims = await tokens.read(service, bearer.read(authorization, params))
    except OAuthError:
        return None
    return claims.client_id if claims else None
