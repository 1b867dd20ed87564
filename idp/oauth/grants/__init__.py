"""The token endpoint (RFC 6749 3.2): one pipeline, and a module for each grant type.

The pipeline reads the request, authenticates the client and checks that it may use the grant type;
a grant cannot leave any of that out, because it only fills in its own part. A new grant type is a
module that ends in its `GRANT`, and a line here: discovery, registration and `idp explain` take it
from the table.
"""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct

from idp.foundation import metrics
from idp.oauth.authentication import client_authentication
from idp.oauth.errors import UnauthorizedClient, UnsupportedGrantType
from idp.oauth.grants import (
    authorization_code,
    client_credentials,
    device_code,
    jwt_profile,
    refresh_token,
    token_exchange,
)
from idp.oauth.grants.token_request import Grant, TokenRequest
from idp.oauth.params import Params
from idp.oauth.refusals import safe_display
from idp.oauth.refusals import token as checks
from idp.oauth.refusals.check import ONCE
from idp.records import INSTANCE_ID, INSTANCES, Application, Instance, User
from idp.service import Service
from storage import Key, Update

GRANTS: Final[dict[str, Grant]] = {
    "authorization_code": authorization_code.GRANT,
    "refresh_token": refresh_token.GRANT,
    "client_credentials": client_credentials.GRANT,
    "urn:ietf:params:oauth:grant-type:jwt-bearer": jwt_profile.GRANT,
    "urn:ietf:params:oauth:grant-type:device_code": device_code.GRANT,
    "urn:ietf:params:oauth:grant-type:token-exchange": token_exchange.GRANT,
}


class TokenResponse(Struct, frozen=True):
    """The body of a token response, and the write that states that it reached no one, of a grant
    that used something up."""

    body: dict[str, Any]
    if_lost: Update | None = None


async def respond(service: Service, authorization: str | None, params: Params) -> TokenResponse:
    """Returns the token response for a form and the `authorization` header that came with it.

    Raises `OAuthError`: errors of the client come before errors of its request. The client and the
    records of the grant are read from the store in one round trip.
    """
    with ONCE:
        params.refuse_repeated()
    grant = GRANTS.get(params.get("grant_type") or "")
    # An unknown grant_type is refused only after the client has been authenticated.
    authenticate = grant.authenticates if grant else client_authentication.authenticate
    keys = _keys(grant, params)
    follows = grant.follows if grant else ()
    sender = await authenticate(service, authorization, params, keys, follow=follows)
    instance = None
    if grant and grant.is_offered:  # the switch is in the installation's record
        instance = sender.records.of(INSTANCES, INSTANCE_ID)
    allowed = _check_allowed(sender.caller, params, grant, instance)
    request = TokenRequest(service, sender.caller, params, sender.records, sender.fresh)
    body = await allowed.respond(request)
    _count(params.required("grant_type"), body)
    return TokenResponse(body, next(iter(request.if_lost), None))


def _count(grant_type: str, response: dict[str, Any]) -> None:
    """Counts the access token of a response."""
    token = response.get("access_token")
    if token is not None:
        kind = "opaque" if token.startswith("v1.") else "jwt"
        metrics.TOKENS_ISSUED.count(grant_type.rpartition(":")[2], kind)


def offered(instance: Instance | None) -> list[str]:
    """Returns the grant types that `instance`, the installation's record, has switched on.

    With None (before the set-up) these are the ones that cannot be switched off.
    """
    return [
        name
        for name, grant in GRANTS.items()
        if grant.is_offered is None or (instance and grant.is_offered(instance))
    ]


def _keys(grant: Grant | None, params: Params) -> list[Key]:
    if grant is None:
        return []
    keys = grant.reads(params)
    return [(INSTANCES, INSTANCE_ID), *keys] if grant.is_offered else keys


def _check_allowed(
    caller: Application | User, params: Params, grant: Grant | None, instance: Instance | None
) -> Grant:
    with checks.GRANT_TYPE:
        grant_type = params.required("grant_type")
        if grant is None:
            sent = safe_display.in_words("grant_type", grant_type)
            details = f"grant_type is one of {', '.join(GRANTS)}; {sent} was sent."
            raise UnsupportedGrantType("grant_type is not supported", details=details)
        if grant.is_offered and not (instance and grant.is_offered(instance)):
            details = f"{grant_type} is switched off on this installation."
            raise UnsupportedGrantType("grant_type is not supported", details=details)
    with checks.GRANT_ALLOWED:
        if (
            # A grant type without a name in the API cannot be registered, so every client that
            # authenticates may use it.
            grant.api_name is not None
            and isinstance(caller, Application)
            and grant_type not in caller.grant_types
        ):
            allowed = ", ".join(caller.grant_types)
            details = f"The application may use {allowed}; {grant_type} was sent."
            raise UnauthorizedClient("the client may not use this grant_type", details=details)
    return grant
