"""The token response for an authorization, with its access token and ID token."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from msgspec import structs

from idp.identity.sessions import lifetime as session_lifetime
from idp.oauth.scopes import OPENID
from idp.oauth.tokens import access_tokens, acting, authorization_claims, id_tokens
from idp.oauth.tokens.access_tokens import AccessTokenRequest, Issued
from idp.oauth.tokens.authorizations import AuthorizedClient
from idp.oauth.tokens.dependencies import TokenDependencies, dependencies_of
from idp.oauth.tokens.id_tokens import IdTokenRequest
from idp.service import Service


async def respond(
    service: Service,
    authorized: AuthorizedClient,
    *,
    scopes: Sequence[str],
    refresh_token: str | None = None,
    with_nonce: bool = False,
    now: datetime,
) -> dict[str, Any]:
    """Returns the token response (RFC 6749 5.1) with new tokens of an authorization. Stores
    nothing.

    With `openid` among the scopes there is an ID token, which has the request's nonce if
    `with_nonce` is true.
    """
    session_id = session_of(service, authorized, now)
    access = await access_token(service, authorized, scopes, session_id, now)
    body: dict[str, Any] = {
        "access_token": access.token,
        "token_type": "Bearer",
        "expires_in": access.expires_in,
        "scope": " ".join(scopes),
    }
    if refresh_token is not None:
        body["refresh_token"] = refresh_token
    # Without `openid` the request is plain OAuth 2.0, which has no ID token (OpenID Connect Core
    # 3.1.2.1).
    if OPENID in scopes:
        nonce = authorized.authorization.nonce if with_nonce else None
        body["id_token"] = await id_token(
            service, authorized, scopes, session_id, now, nonce=nonce, access_token=access.token
        )
    return body


async def id_token(
    service: Service,
    authorized: AuthorizedClient,
    scopes: Sequence[str],
    session_id: str | None,
    now: datetime,
    *,
    nonce: str | None,
    access_token: str | None = None,
    code: str | None = None,
) -> str:
    """Returns a new ID token of an authorization.

    With `access_token`, the one that is issued with it, it has its hash, and the claims that
    `scopes` release are left to userinfo unless the client's option adds them. `session_id` is its
    `sid`; `code` is only hashed.
    """
    authorization, client = authorized.authorization, authorized.client.application
    has_access_token = access_token is not None and not client.id_token_userinfo_assertion
    request = IdTokenRequest(
        sub=authorization.user_id,
        client_id=client.id,
        auth_time=authorization.auth_time,
        amr=authorization.amr,
        acr=authorization.acr,
        nonce=nonce,
        session_id=session_id,
        access_token=access_token,
        code=code,
        claims=await authorization_claims.in_id_token(
            service, authorized, scopes, has_access_token=has_access_token
        ),
        algorithm=client.signing_algorithm,
        actor=authorization.actor,
        ends_at=authorized.ends_at,
    )
    return await id_tokens.issue(service, request, now)


async def access_token(
    service: Service,
    authorized: AuthorizedClient,
    scopes: Sequence[str],
    session_id: str | None,
    now: datetime,
) -> Issued:
    """Returns a new access token of an authorization.

    It ends with the session `session_id`, or independently of any session if that is None.
    """
    authorization, client = authorized.authorization, authorized.client.application
    request = AccessTokenRequest(
        sub=authorization.user_id,
        client_id=client.id,
        audience=authorization_claims.audience(service.config, authorized, scopes),
        scopes=scopes,
        kind=authorized.token_kind,
        algorithm=client.signing_algorithm,
        dependencies=_dependencies(authorized, session_id),
        auth_time=authorization.auth_time,
        amr=authorization.amr,
        acr=authorization.acr,
        actor=authorization.actor,
        ends_at=_access_token_ends_at(service, authorized, now),
        extra=await authorization_claims.in_access_token(service, authorized, scopes),
    )
    return await access_tokens.issue(service, request, now)


def _dependencies(authorized: AuthorizedClient, session_id: str | None) -> TokenDependencies:
    """Returns the dependencies of an access token: those of the authorization, and the session."""
    dependencies = dependencies_of(authorized.authorization)
    client_use, *other_uses = dependencies.uses
    # The grounds that the user still has: one that was withdrawn since the authorization must not
    # be in a new token.
    client_use = structs.replace(client_use, grounds=authorized.grounds or client_use.grounds)
    return structs.replace(
        dependencies,
        session_id=session_id,
        session_ids=[*([session_id] if session_id else []), *dependencies.session_ids],
        uses=[client_use, *other_uses],
    )


def _access_token_ends_at(
    service: Service, authorized: AuthorizedClient, now: datetime
) -> datetime | None:
    """Returns the end that bounds the token's lifetime beyond the one of its kind, or None."""
    if authorized.authorization.actor is None or authorized.ends_at is None:
        return authorized.ends_at
    # With an actor the token is shorter, also where the authorization itself lasts for hours.
    token_lifetime = access_tokens.lifetime(service.config, authorized.token_kind)
    return min(authorized.ends_at, now + acting.shortened(service.config, token_lifetime))


def session_of(service: Service, authorized: AuthorizedClient, now: datetime) -> str | None:
    """Returns the id of the session that new tokens of an authorization end with.

    None if the session has ended or there is none, so that they end independently of it.
    """
    session = authorized.session
    if session is None or session_lifetime.is_over(service.config, session, now):
        return None
    return session.id
