"""The response of the UserInfo endpoint (OpenID Connect Core 5.3)."""

from __future__ import annotations

from typing import Any

from idp.identity.users import personal_access_tokens as user_personal_access_tokens
from idp.oauth.authentication import bearer_tokens
from idp.oauth.authentication.bearer_tokens import Bearer
from idp.oauth.errors import InsufficientScope, OAuthError
from idp.oauth.params import Params
from idp.oauth.refusals.userinfo import TOKEN_SCOPE
from idp.oauth.scopes import OPENID
from idp.oauth.tokens import access_tokens, claims_request, standard_claims, user_claims
from idp.service import Service


async def respond(service: Service, authorization: str | None, params: Params) -> dict[str, Any]:
    """Returns the claims that the access token's scopes release. Raises `OAuthError`.

    `authorization` is the header of that name; the token may also be in the form.
    """
    token = bearer_tokens.read(authorization, params)
    caller = await bearer_tokens.authenticate(service, token)
    with TOKEN_SCOPE:
        if OPENID not in caller.scopes:
            raise InsufficientScope("the token does not have the scope openid")
    client, subject = caller.valid_records.client, caller.subject
    reader_org_id = client.application.org_id if client else None
    claims = await user_claims.released(
        service,
        subject,
        caller.scopes,
        audience=caller.token.aud,
        reader=client.application if client else None,
        reader_org_id=reader_org_id,
        org_id=subject.organization.id
        if user_personal_access_tokens.is_pat(service, token)
        else None,
    )
    return claims | await _requested(service, caller)


async def _requested(service: Service, caller: Bearer) -> dict[str, Any]:
    """Returns the claims that the authorization request asked for by name (OpenID Connect Core
    5.5)."""
    client, parents = caller.valid_records.client, caller.valid_records.authorizations
    if client is None or caller.token.ref.authorization is None:
        return {}
    # The token's own authorization is the first; the others are of a token exchange's inputs.
    requested = claims_request.stored(parents[0].claims).userinfo
    if not requested:
        return {}
    application = client.application
    user_view = await user_claims.view(
        service, caller.subject, standard_claims.ALL, application.org_id
    )
    return standard_claims.requested(user_view, requested, parents[0], application)


async def client_of(service: Service, authorization: str | None, params: Params) -> str | None:
    """Returns the id of the client that the request's access token was issued to, for a log or
    record.

    `authorization` is the header of that name; the token may also be in the form. It may have
    expired or been revoked. Returns None if there is no token or it cannot be read.
    """
    try:
        claims = await access_tokens.read(service, bearer_tokens.read(authorization, params))
    except OAuthError:
        return None
    return claims.client_id if claims else None
