"""The test of an application: a real sign-in that displays the claims, and issues no tokens.

The request is the one that the application would send, and passes the same checks. Its response
is sent to a page of the service and has no code. The tokens are of an authorization that is never
stored, so they are not valid, and leave this module as claims only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct, structs

from idp.foundation import base64url
from idp.identity.sessions.lifetime import LiveSession
from idp.limits.origin import AttemptOrigin
from idp.oauth import pkce, scopes
from idp.oauth.endpoints import authorization as authorization_endpoint
from idp.oauth.endpoints import authorization_request, authorization_result
from idp.oauth.endpoints.authorization import AuthorizeRefused
from idp.oauth.errors import OAuthError
from idp.oauth.params import Params
from idp.oauth.sign_in import pending as sign_in_pending
from idp.oauth.sign_in.pending import BegunFlow
from idp.oauth.tokens import allowed_users, audiences, token_response, user_claims
from idp.oauth.tokens.authorizations import AuthorizedClient
from idp.records import Application, AuthRequest, Browser
from idp.service import Service

_SCOPES: Final = ("openid", "profile", "email", "phone", "address")
_PLACEHOLDER: Final = "<generated>"
_VARIABLE_CLAIMS: Final = {"nonce": _PLACEHOLDER, "jti": _PLACEHOLDER}


class SignInTestResult(Struct, frozen=True):
    """The claims that an application would get about a user.

    `access_token` is empty unless it is a JWT.
    """

    scopes: list[str]
    id_token: Mapping[str, Any]
    userinfo: Mapping[str, Any]
    access_token: Mapping[str, Any]


async def read(service: Service, client_id: str) -> tuple[AuthRequest, Application]:
    """Returns an authorization request as the application would send it, checked, and the
    application.

    It has the first redirect URI and response type that are registered. Raises `UnusableRequest`
    and `AuthorizeRefused`.
    """
    client, random = await authorization_endpoint.find_client(service, client_id), service.random
    pairs = {
        "client_id": client.id,
        "redirect_uri": next(iter(client.redirect_uris), ""),
        "response_type": next(iter(client.response_types), ""),
        "scope": " ".join(_requested(client)),
        "state": random.token(),
        "nonce": random.token(),
        "code_challenge": pkce.challenge_of(random.token()),
        "code_challenge_method": "S256",
    }
    params = Params(pairs.items())
    to = authorization_request.return_to(client, params)
    try:
        request = await authorization_request.check(service, client, params, to, is_pushed=True)
    except OAuthError as error:
        raise AuthorizeRefused(to, error) from error
    return request, client


async def begin(
    service: Service,
    client_id: str,
    path: str,
    browser: Browser,
    user_id: str,
    origin: AttemptOrigin,
) -> BegunFlow:
    """Begins a sign-in that asks this user for the password and ends at `path`, an address of the
    service.

    Raises `UnusableRequest` and `AuthorizeRefused` when the application could not send such a
    request.
    """
    application_request, _ = await read(service, client_id)
    request = structs.replace(
        application_request,
        redirect_uri=service.config.issuer + path,
        response_mode="query",
        state=None,
        prompt=["login"],
        hinted_user_id=user_id,
        is_for_own_page=True,
    )
    return await sign_in_pending.begin(service, request, browser, origin)


async def released_to(
    service: Service, client_id: str, live_session: LiveSession
) -> SignInTestResult | None:
    """Returns the claims that the application would get about the user of a session.

    None unless the application's organization is active. Raises `UnusableRequest` and
    `AuthorizeRefused`.
    """
    request, client = await read(service, client_id)
    decision = await allowed_users.find(service, client, live_session.subject)
    client_with_organization = authorization_result.with_organization(client, decision)
    if client_with_organization is None:
        return None
    now = service.clock.now()
    granted = await audiences.of_application(service, client, request.scopes)
    record = authorization_result.authorization(
        service, client_with_organization, granted, request, live_session, now, decision.grounds
    )
    authorized = AuthorizedClient(
        record, live_session.subject, client_with_organization, live_session.session
    )
    response = await token_response.respond(
        service, authorized, scopes=granted.scopes, with_nonce=True, now=now
    )
    userinfo = await user_claims.released(
        service,
        live_session.subject,
        granted.scopes,
        audience=granted.audience,
        reader=client,
        reader_org_id=client.org_id,
    )
    is_jwt = authorized.token_kind == "jwt"  # noqa: S105 - a kind
    return SignInTestResult(
        scopes=granted.scopes,
        id_token=_claims(response["id_token"]),
        userinfo=userinfo,
        access_token=_claims(response["access_token"]) if is_jwt else {},
    )


def _requested(client: Application) -> list[str]:
    has_refresh = "refresh_token" in client.grant_types
    return [*_SCOPES, *([scopes.OFFLINE_ACCESS] if has_refresh else [])]


def _claims(token: str) -> dict[str, Any]:
    """Returns a token's claims, with a placeholder for the values that differ each time."""
    claims: dict[str, Any] = msgspec.json.decode(base64url.decode(token.split(".")[1]))
    return claims | {name: value for name, value in _VARIABLE_CLAIMS.items() if name in claims}
