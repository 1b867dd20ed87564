"""The request bodies of connections, one for each kind; their names are those of the API that
clients know."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar, Final, get_args

from msgspec import field

from idp.foundation.errors import FieldProblem
from idp.management.connections.field_rules import ConnectionId, ScopeName, ServerAddress, TenantId
from idp.management.connections.options import ProviderOptions, contradiction
from idp.records.connections import (
    AzureSettings,
    AzureTenants,
    ConnectionSettings,
    GenericOidcSettings,
    GitlabSelfHostedSettings,
    GitlabSettings,
    GoogleSettings,
    OidcPreset,
    UpstreamAlgorithm,
    UpstreamAuthentication,
)
from idp.schema.field_rules import Domain, Integer, Items, Name, OneOf, Text
from idp.schema.reading import Request
from idp.upstream.presets import addresses

MAX_SECRET: Final = 2000
MAX_POSITION: Final = 1000
TENANTS: Final[dict[str, AzureTenants]] = {
    "AZURE_AD_TENANT_TYPE_COMMON": "common",
    "AZURE_AD_TENANT_TYPE_ORGANISATIONS": "organizations",
    "AZURE_AD_TENANT_TYPE_CONSUMERS": "consumers",
}

Scopes = Annotated[list[Annotated[str, ScopeName()]], Items(30)]
Secret = Annotated[str, Text(max=MAX_SECRET, is_free=True)]
_Url = Annotated[str, ServerAddress()]
_Issuer = Annotated[str, ServerAddress(1, is_issuer=True)]


class ConnectionForm(Request, frozen=True, kw_only=True):
    """The base of the request bodies of connections.

    `id` is chosen with the permission iam.idp.write, and only for a new connection. A
    `clientSecret` that is omitted remains unchanged. `position` orders the buttons of the sign-in
    page.
    """

    id: Annotated[str, ConnectionId()] = ""
    name: Name
    provider_options: ProviderOptions = ProviderOptions()
    position: Annotated[int, Integer(0, MAX_POSITION)] = 0
    client_id: Name
    client_secret: Secret = ""
    scopes: Scopes = []

    def stored(self) -> ConnectionSettings:
        """Returns the settings in the form in which the record of a connection holds them."""
        raise NotImplementedError

    @property
    def needs_secret(self) -> bool:
        """Whether a connection with these settings needs a secret."""
        return True


class GenericOidcForm(ConnectionForm, frozen=True, kw_only=True):
    """A provider of OpenID Connect, by its issuer. With the preset `okta` the issuer follows from
    `domain` and `authorizationServer`, with `keycloak` from `baseUrl` and `realm`.

    With `authorizationEndpoint`, `tokenEndpoint` and `jwksUri` the discovery document is not read.
    """

    issuer: Annotated[str, ServerAddress(is_issuer=True)] = ""
    client_authentication: UpstreamAuthentication = "basic"
    id_token_algorithms: Annotated[list[UpstreamAlgorithm], Items(4, min=1)] = field(
        default_factory=lambda: list(get_args(UpstreamAlgorithm))
    )
    is_id_token_mapping: bool = False
    authorization_endpoint: _Url = ""
    token_endpoint: _Url = ""
    userinfo_endpoint: _Url = ""
    jwks_uri: _Url = ""
    preset: OidcPreset = ""
    base_url: Annotated[str, ServerAddress(is_issuer=True)] = ""
    realm: Annotated[str, Text()] = ""
    domain: Annotated[str, Domain()] = ""
    authorization_server: Annotated[str, Text()] = ""

    @property
    def needs_secret(self) -> bool:
        return self.client_authentication != "none"

    def check(self) -> Iterator[FieldProblem]:
        yield from self._preset_problems()
        endpoints = (self.authorization_endpoint, self.token_endpoint, self.jwks_uri)
        # A field that was refused is None: that is reported already.
        stated = [each != "" for each in endpoints]
        if any(stated) and not all(stated):
            message = "needs authorizationEndpoint, tokenEndpoint and jwksUri together"
            yield contradiction("authorizationEndpoint", message)

    def _preset_problems(self) -> Iterator[FieldProblem]:
        needed = {
            "keycloak": {"baseUrl": self.base_url, "realm": self.realm},
            "okta": {"domain": self.domain},
            "": {"issuer": self.issuer},
        }
        others = {
            "baseUrl": ("keycloak", self.base_url),
            "realm": ("keycloak", self.realm),
            "domain": ("okta", self.domain),
            "authorizationServer": ("okta", self.authorization_server),
        }
        for name, value in needed.get(self.preset or "", {}).items():
            if value == "":
                yield FieldProblem("field.required", name, "is required")
        for name, (preset, value) in others.items():
            if value and self.preset != preset:
                yield contradiction(name, f"belongs to the preset {preset}")
        derived_issuer = self._derived_issuer()
        if derived_issuer and self.issuer and self.issuer != derived_issuer:
            yield contradiction("issuer", f"is not that of the preset, {derived_issuer}")

    def _derived_issuer(self) -> str:
        if self.preset == "keycloak" and self.base_url and self.realm:
            return addresses.keycloak_issuer(self.base_url, self.realm)
        if self.preset == "okta" and self.domain:
            return addresses.okta_issuer(self.domain, self.authorization_server or "")
        return ""

    def stored(self) -> GenericOidcSettings:
        return GenericOidcSettings(
            issuer=self._derived_issuer() or self.issuer,
            client_id=self.client_id,
            client_authentication=self.client_authentication,
            scopes=tuple(self.scopes),
            id_token_algorithms=tuple(dict.fromkeys(self.id_token_algorithms)),
            uses_id_token_mapping=self.is_id_token_mapping,
            authorization_endpoint=self.authorization_endpoint,
            token_endpoint=self.token_endpoint,
            userinfo_endpoint=self.userinfo_endpoint,
            jwks_uri=self.jwks_uri,
            preset=self.preset,
            base_url=self.base_url,
            realm=self.realm,
            domain=self.domain,
            authorization_server=self.authorization_server,
        )


class GoogleForm(ConnectionForm, frozen=True, kw_only=True):
    hosted_domains: Annotated[list[Annotated[str, Domain(1)]], Items(100)] = []

    def stored(self) -> GoogleSettings:
        return GoogleSettings(
            client_id=self.client_id,
            scopes=tuple(self.scopes),
            hosted_domains=tuple(dict.fromkeys(self.hosted_domains)),
        )


class AzureTenant(Request, frozen=True, kw_only=True):
    """Which accounts may sign in: those of one tenant, or of several."""

    one_of: ClassVar[tuple[tuple[str, ...], ...]] = (("tenant_type", "tenant_id"),)

    tenant_type: Annotated[str, OneOf(tuple(TENANTS))] | None = None
    tenant_id: Annotated[str, TenantId()] | None = None


class AzureForm(ConnectionForm, frozen=True, kw_only=True):
    """Microsoft Entra ID. Without `tenant` every account may sign in; `allowedTenants` limits
    those of several tenants."""

    tenant: AzureTenant = AzureTenant()
    allowed_tenants: Annotated[list[Annotated[str, TenantId()]], Items(100)] = []
    email_verified: bool = False

    def check(self) -> Iterator[FieldProblem]:
        if self.tenant is not None and self.tenant.tenant_id and self.allowed_tenants:
            message = "can't be used together with tenant.tenantId"
            yield contradiction("allowedTenants", message)

    def stored(self) -> AzureSettings:
        tenant = self.tenant.tenant_id
        return AzureSettings(
            client_id=self.client_id,
            tenants="tenant" if tenant else TENANTS.get(self.tenant.tenant_type or "", "common"),
            tenant_id=tenant or "",
            allowed_tenants=tuple(dict.fromkeys(self.allowed_tenants)),
            is_email_verified=self.email_verified,
            scopes=tuple(self.scopes),
        )


class GitlabForm(ConnectionForm, frozen=True, kw_only=True):
    def stored(self) -> GitlabSettings:
        return GitlabSettings(client_id=self.client_id, scopes=tuple(self.scopes))


class GitlabSelfHostedForm(ConnectionForm, frozen=True, kw_only=True):
    issuer: _Issuer

    def stored(self) -> GitlabSelfHostedSettings:
        return GitlabSelfHostedSettings(
            issuer=self.issuer, client_id=self.client_id, scopes=tuple(self.scopes)
        )
