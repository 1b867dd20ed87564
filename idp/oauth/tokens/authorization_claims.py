"""The claims about the user, and the audience, of the tokens that an authorization gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from idp.config.settings import Config
from idp.oauth import reserved_scopes
from idp.oauth.tokens import audiences, claims_request, role_claims, standard_claims, user_claims
from idp.oauth.tokens.authorizations import AuthorizedClient
from idp.oauth.tokens.role_claims import RoleClaimRequest
from idp.service import Service


async def in_id_token(
    service: Service,
    authorized: AuthorizedClient,
    scopes: Sequence[str],
    *,
    has_access_token: bool,
) -> Mapping[str, Any]:
    """Returns the claims of an ID token about its user, beyond those that the protocol requires.

    With `has_access_token`, because an access token is issued with it, they are only those that
    the request named in `claims` (OpenID Connect Core 5.5), and the roles where the client's
    option adds them.
    """
    client, subject = authorized.client.application, authorized.subject
    requested = claims_request.stored(authorized.authorization.claims).id_token
    claims: dict[str, Any] = {}
    if requested:
        user = await user_claims.view(service, subject, standard_claims.ALL, client.org_id)
        claims = standard_claims.requested(user, requested, authorized.authorization, client)
    # A token without them comes with an access token, so the client can read the rest from
    # userinfo (OpenID Connect Core 5.4).
    if not has_access_token:
        claims |= await user_claims.released(
            service,
            subject,
            scopes,
            audience=audience(service.config, authorized, scopes),
            reader=client,
            reader_org_id=client.org_id,
        )
    if client.id_token_role_assertion:
        claims |= await _roles(service, authorized, scopes)
    return user_claims.within_size_limit(claims)


async def in_access_token(
    service: Service, authorized: AuthorizedClient, scopes: Sequence[str]
) -> Mapping[str, Any]:
    """Returns the role claims of a JWT access token if the client's option adds them, else no
    claims.

    An opaque token has none: a resource server reads them by introspection.
    """
    client = authorized.client.application
    is_jwt = authorized.token_kind == "jwt"  # noqa: S105 - a kind
    if not is_jwt or not client.access_token_role_assertion:
        return {}
    return user_claims.within_size_limit(await _roles(service, authorized, scopes))


def audience(config: Config, authorized: AuthorizedClient, scopes: Sequence[str]) -> list[str]:
    """Returns the audience of a token of this authorization that has only these of its scopes."""
    return audiences.narrowed(
        config, authorized.client.application, authorized.authorization, scopes
    )


async def _roles(
    service: Service, authorized: AuthorizedClient, scopes: Sequence[str]
) -> dict[str, Any]:
    requested = RoleClaimRequest(
        reserved=reserved_scopes.read(service.config, scopes),
        audience=audience(service.config, authorized, scopes),
        reader=authorized.client.application,
    )
    return await role_claims.read(service, authorized.subject, requested)
