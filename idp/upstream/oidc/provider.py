"""The provider of a connection: its endpoints, from the connection's settings or from its
discovery document (OpenID Connect Discovery 1.0 section 4)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from msgspec import Struct

from idp.outgoing import documents, http
from idp.outgoing.failures import Failed
from idp.outgoing.http import Outgoing
from idp.records.connections import AzureSettings, GenericOidcSettings, ProviderConnection
from idp.service import Service
from idp.upstream.presets import addresses
from idp.upstream.refused import UpstreamRefused

MAX_DISCOVERY_BYTES: Final = 1024 * 1024
MAX_KEY_SET_BYTES: Final = 256 * 1024
_MAX_URL: Final = 2000
_WELL_KNOWN: Final = "/.well-known/openid-configuration"


class Provider(Struct, frozen=True):
    """The provider of a connection.

    `issuer` is that of its ID tokens; of several tenants of Microsoft Entra ID it has
    `{tenantid}` in place of the tenant. `userinfo_endpoint` may be empty. `names_issuer` means
    that each of its answers has the parameter `iss` (RFC 9207). `owner` is the id of the
    organization that has chosen the addresses; None for the installation.
    """

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str = ""
    names_issuer: bool = False
    owner: str | None = None


async def find(service: Service, connection: ProviderConnection) -> Provider:
    """Returns the provider of a connection. Its discovery document is read unless the settings
    have the endpoints. Raises UpstreamRefused."""
    settings = connection.settings
    if isinstance(settings, GenericOidcSettings) and settings.token_endpoint:
        return Provider(
            issuer=settings.issuer,
            authorization_endpoint=settings.authorization_endpoint,
            token_endpoint=settings.token_endpoint,
            jwks_uri=settings.jwks_uri,
            userinfo_endpoint=settings.userinfo_endpoint,
            owner=connection.org_id,
        )
    return await _discovered(service, connection)


async def key_set(
    service: Service, provider: Provider, max_age: timedelta = documents.MAX_AGE
) -> dict[str, Any]:
    """Returns the key set of a provider (RFC 7517 section 5), which may be as old as `max_age`.
    Raises UpstreamRefused."""
    calls = service.outgoing.for_owner(provider.owner)
    return await _fetched(service, calls, provider.jwks_uri, MAX_KEY_SET_BYTES, max_age)


async def _discovered(service: Service, connection: ProviderConnection) -> Provider:
    url = _discovery_base(connection).removesuffix("/") + _WELL_KNOWN
    calls = service.outgoing.for_owner(connection.org_id)
    document = await _fetched(service, calls, url, MAX_DISCOVERY_BYTES)
    issuer = document.get("issuer")
    if issuer != connection.authority:
        raise UpstreamRefused(
            "provider_configured",
            f"the discovery document at {url} is that of another issuer than"
            f" {connection.authority}",
        )
    if document.get("require_pushed_authorization_requests") is True:
        details = "the provider accepts pushed authorization requests (RFC 9126) only"
        raise UpstreamRefused("provider_configured", details)
    return Provider(
        issuer=connection.authority,
        authorization_endpoint=_endpoint(service, document, "authorization_endpoint"),
        token_endpoint=_endpoint(service, document, "token_endpoint"),
        jwks_uri=_endpoint(service, document, "jwks_uri"),
        userinfo_endpoint=_endpoint(service, document, "userinfo_endpoint", is_optional=True),
        names_issuer=document.get("authorization_response_iss_parameter_supported") is True,
        owner=connection.org_id,
    )


def _discovery_base(connection: ProviderConnection) -> str:
    """Returns the address below which the discovery document is: the issuer, but for several
    tenants of Microsoft Entra ID, whose document is that of a name for them."""
    settings = connection.settings
    if isinstance(settings, AzureSettings) and settings.tenants != "tenant":
        return addresses.azure_issuer(settings.tenants)
    return connection.authority


async def _fetched(
    service: Service,
    calls: Outgoing,
    url: str,
    max_bytes: int,
    max_age: timedelta = documents.MAX_AGE,
) -> dict[str, Any]:
    try:
        document = await service.documents.get(
            calls,
            service.config,
            url,
            service.clock.now(),
            max_bytes=max_bytes,
            max_age=max_age,
        )
    except Failed as error:
        raise UpstreamRefused("provider_reached", f"{url} can't be read: {error}") from error
    return document.content


def _endpoint(
    service: Service, document: dict[str, Any], name: str, *, is_optional: bool = False
) -> str:
    """Returns an address in a discovery document, if it may be called. Raises UpstreamRefused."""
    url = document.get(name)
    if url is None and is_optional:
        return ""
    if not isinstance(url, str) or len(url) > _MAX_URL:
        raise UpstreamRefused("provider_configured", f"the discovery document has no {name}")
    try:
        http.check_registered(service.config, url)
    except Failed as error:
        details = f"{name} in the discovery document can't be used: {error}"
        raise UpstreamRefused("provider_configured", details) from None
    if not url.startswith("https://") and not service.config.is_loopback:
        details = f"{name} in the discovery document is not encrypted"
        raise UpstreamRefused("provider_configured", details)
    return url
