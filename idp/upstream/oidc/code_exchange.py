"""The redemption of an authorization code at another provider (RFC 6749 section 4.1.3, RFC 7636),
and its UserInfo endpoint (OpenID Connect Core 1.0 section 5.3)."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import quote, urlencode

from idp.outgoing import documents
from idp.outgoing.failures import Failed
from idp.records.connections import GenericOidcSettings, ProviderConnection, UpstreamAuthentication
from idp.service import Service
from idp.upstream import connection_secrets
from idp.upstream.oidc.provider import Provider
from idp.upstream.refused import UpstreamRefused

MAX_ANSWER_BYTES: Final = 1024 * 1024
SECONDS: Final = 5.0
_OK: Final = 200
_MAX_TOKEN: Final = 16 * 1024
_MAX_ERROR: Final = 100


async def redeem(
    service: Service,
    connection: ProviderConnection,
    provider: Provider,
    *,
    code: str,
    verifier: str,
    redirect_uri: str,
) -> Mapping[str, Any]:
    """Returns the token response for a code. Raises UpstreamRefused."""
    url = provider.token_endpoint
    status, answer = await _redemption(
        service, connection, provider, code=code, verifier=verifier, redirect_uri=redirect_uri
    )
    if status != _OK:
        error = answer.get("error")
        error_text = f", error {error[:_MAX_ERROR]!r}" if isinstance(error, str) else ""
        details = f"{url} has answered with the status {status}{error_text}"
        raise UpstreamRefused("code_redeemed", details)
    return answer


async def try_client(
    service: Service, connection: ProviderConnection, provider: Provider, *, redirect_uri: str
) -> tuple[int, str]:
    """Returns the status and the error (RFC 6749 section 5.2) that the provider answers to a code
    that it has not issued: `invalid_grant` if it accepts the client. Raises UpstreamRefused."""
    code, verifier = service.random.token(), service.random.token()
    status, answer = await _redemption(
        service, connection, provider, code=code, verifier=verifier, redirect_uri=redirect_uri
    )
    error = answer.get("error")
    return status, error[:_MAX_ERROR] if isinstance(error, str) else ""


async def _redemption(
    service: Service,
    connection: ProviderConnection,
    provider: Provider,
    *,
    code: str,
    verifier: str,
    redirect_uri: str,
) -> tuple[int, dict[str, Any]]:
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": redirect_uri,
        "code_verifier": verifier,
    }
    headers = {
        "Content-Type": "application/x-www-form-urlencoded",
        "Accept": "application/json",
        **_authentication(service, connection, form),
    }
    call = _ProviderCall("POST", provider.token_endpoint, headers, urlencode(form).encode())
    return await _exchange(service, provider, call, "code_redeemed")


async def userinfo(service: Service, provider: Provider, access_token: object) -> dict[str, Any]:
    """Returns the claims of the UserInfo endpoint. Raises UpstreamRefused."""
    is_usable = isinstance(access_token, str) and len(access_token) <= _MAX_TOKEN
    if not is_usable or not str(access_token).isascii() or not str(access_token).isprintable():
        raise UpstreamRefused("userinfo_matches", "the token response has no access token")
    headers = {"Authorization": f"Bearer {access_token}", "Accept": "application/json"}
    url = provider.userinfo_endpoint
    request = _ProviderCall("GET", url, headers)
    status, answer = await _exchange(service, provider, request, "userinfo_matches")
    if status != _OK:
        details = f"{url} has answered with the status {status}"
        raise UpstreamRefused("userinfo_matches", details)
    return answer


class _ProviderCall(NamedTuple):
    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes = b""


async def _exchange(
    service: Service, provider: Provider, request: _ProviderCall, check: Any
) -> tuple[int, dict[str, Any]]:
    """Returns the status and the JSON object of an answer; an empty one if an error has none."""
    url = request.url
    try:
        answer = await service.outgoing.for_owner(provider.owner).exchange(
            service.config,
            *request,
            max_bytes=MAX_ANSWER_BYTES + 1,
            seconds=SECONDS,
        )
    except Failed as error:
        raise UpstreamRefused("provider_reached", f"{url} can't be called: {error}") from error
    try:
        return answer.status, documents.decoded(answer.body, MAX_ANSWER_BYTES)
    except Failed as error:
        if answer.status != _OK:
            return answer.status, {}
        raise UpstreamRefused(check, f"{url}: {error}") from error


def _authentication(
    service: Service, connection: ProviderConnection, form: dict[str, str]
) -> Mapping[str, str]:
    """Returns the header by which this service authenticates; adds the parameters that belong
    there to `form` (RFC 6749 section 2.3.1)."""
    client_id, method = connection.settings.client_id, _method(connection)
    stored = connection.sealed_secrets.client_secret
    secret = connection_secrets.opened(service, stored) if stored else ""
    if method == "basic":
        pair = f"{quote(client_id, safe='')}:{quote(secret, safe='')}".encode()
        return {"Authorization": f"Basic {base64.b64encode(pair).decode()}"}
    form["client_id"] = client_id
    if method == "post":
        form["client_secret"] = secret
    return {}


def _method(connection: ProviderConnection) -> UpstreamAuthentication:
    settings = connection.settings
    # The other kinds have a provider that is known to accept this.
    return settings.client_authentication if isinstance(settings, GenericOidcSettings) else "post"
