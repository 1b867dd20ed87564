"""The token endpoint (RFC 6749 3.2): one pipeline, and a module for each grant.

The pipeline reads the request, authenticates the client and checks that it may use the grant;
a grant cannot forget any of that, because it only fills in its own part.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

from msgspec import Struct

from idp.oauth import client_auth, shown
from idp.oauth.checks import token as checks
from idp.oauth.checks.check import ONCE
from idp.oauth.errors import UnauthorizedClient, UnsupportedGrantType
from idp.oauth.grants import authorization_code, refresh_token
from idp.oauth.grants.exchange import Exchange
from idp.oauth.params import Params
from idp.records import APPLICATIONS, Application
from idp.service import Service
from storage import Key


class Grant(Struct, frozen=True):
    """A grant's own part: which record its credential names, and what it answers."""

    reads: Callable[[Params], Key | None]
    exchange: Callable[[Exchange], Awaitable[dict[str, Any]]]


GRANTS: Final[dict[str, Grant]] = {
    "authorization_code": Grant(authorization_code.reads, authorization_code.redeem),
    "refresh_token": Grant(refresh_token.reads, refresh_token.rotate),
}


async def exchange(service: Service, authorization: str | None, params: Params) -> dict[str, Any]:
    """The token response for a form, and the `authorization` header that came with it.

    Raises OAuthError: what is wrong with the client before what is wrong with its request.
    Client and grant are read from the store in one round trip.
    """
    with ONCE:
        params.refuse_repeated()
    with checks.CLIENT_NAMED:
        claimed = client_auth.read(authorization, params)
    grant = next((each for name, each in GRANTS.items() if name == params.get("grant_type")), None)
    key = grant.reads(params) if grant else None
    keys: list[Key] = [(APPLICATIONS, claimed.client_id), *([key] if key else [])]
    found = await service.store.get_many(keys)
    with checks.CLIENT_KNOWN:
        if found[0] is None:
            raise await client_auth.unknown(service, claimed)
    client = client_auth.check(claimed, found[0])
    allowed = _check_allowed(client, params, grant)
    record = found[1] if key else None
    return await allowed.exchange(Exchange(service, client, params, record))


def _check_allowed(client: Application, params: Params, grant: Grant | None) -> Grant:
    with checks.GRANT_TYPE:
        grant_type = params.required("grant_type")
        if grant is None:
            known = ", ".join(GRANTS)
            sent = shown.in_words("grant_type", grant_type)
            story = f"grant_type is one of {known}; {sent} was sent."
            raise UnsupportedGrantType("grant_type is not supported", story=story)
    with checks.GRANT_ALLOWED:
        if grant_type not in client.grant_types:
            allowed = ", ".join(client.grant_types)
            story = f"The application may use {allowed}; {grant_type} was sent."
            raise UnauthorizedClient("the client may not use this grant_type", story=story)
    return grant
