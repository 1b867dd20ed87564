"""The settings of connections in answers: a struct for each kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeVar

from idp.management.connections.forms import TENANTS
from idp.records.connections import (
    AzureSettings,
    ConnectionSettings,
    GenericOidcSettings,
)
from idp.schema.answers import Answer

A = TypeVar("A", bound=Answer)


class ClientConfig(Answer, frozen=True, kw_only=True):
    client_id: str
    scopes: list[str] = []


class GenericOidcConfig(ClientConfig, frozen=True, kw_only=True):
    issuer: str
    client_authentication: str = ""
    id_token_algorithms: list[str] = []
    is_id_token_mapping: bool = False
    authorization_endpoint: str = ""
    token_endpoint: str = ""
    userinfo_endpoint: str = ""
    jwks_uri: str = ""
    preset: str = ""
    base_url: str = ""
    realm: str = ""
    domain: str = ""
    authorization_server: str = ""


class GoogleConfig(ClientConfig, frozen=True, kw_only=True):
    hosted_domains: list[str] = []


class AzureTenantView(Answer, frozen=True, kw_only=True):
    tenant_type: str = ""
    tenant_id: str = ""


class AzureConfig(ClientConfig, frozen=True, kw_only=True):
    tenant: AzureTenantView
    allowed_tenants: list[str] = []
    email_verified: bool = False


class GitlabSelfHostedConfig(ClientConfig, frozen=True, kw_only=True):
    issuer: str


class KindConfig(Answer, frozen=True, kw_only=True):
    """One of these is there: that of the connection's kind."""

    oidc: GenericOidcConfig | None = None
    google: GoogleConfig | None = None
    azure_ad: AzureConfig | None = None
    gitlab: ClientConfig | None = None
    gitlab_self_hosted: GitlabSelfHostedConfig | None = None


# The members of `KindConfig` whose names differ from the kind's.
_MEMBERS: Final = {"generic_oidc": "oidc", "azure": "azure_ad"}
_RENAMED: Final = {"is_id_token_mapping": "uses_id_token_mapping"}
_NONE: Final[Mapping[str, str]] = {}
_STRUCTS: Final[Mapping[str, type[Answer]]] = {
    "google": GoogleConfig,
    "gitlab": ClientConfig,
    "gitlab_self_hosted": GitlabSelfHostedConfig,
}


def config_of(settings: ConnectionSettings) -> dict[str, Any]:
    """Returns the member of `KindConfig` that presents these settings, by its name."""
    kind = str(settings.__struct_config__.tag)
    return {_MEMBERS.get(kind, kind): _view(settings, kind)}


def _view(settings: ConnectionSettings, kind: str) -> Answer:
    match settings:
        case GenericOidcSettings():
            return _copied(GenericOidcConfig, settings, _RENAMED)
        case AzureSettings():
            return _azure(settings)
    return _copied(_STRUCTS[kind], settings)


def _copied(view_type: type[A], settings: Any, renamed: Mapping[str, str] = _NONE) -> A:
    """Returns the struct with the fields of the settings that have the same names; `renamed` are
    names that differ."""
    values: dict[str, Any] = {
        name: getattr(settings, renamed.get(name, name))
        for name in view_type.__struct_fields__
        if hasattr(settings, renamed.get(name, name))
    }
    return view_type(
        **{name: list(each) if isinstance(each, tuple) else each for name, each in values.items()}
    )


def _azure(settings: AzureSettings) -> AzureConfig:
    names = {stored: name for name, stored in TENANTS.items()}
    return AzureConfig(
        client_id=settings.client_id,
        scopes=list(settings.scopes),
        tenant=AzureTenantView(
            tenant_type=names.get(settings.tenants, ""), tenant_id=settings.tenant_id
        ),
        allowed_tenants=list(settings.allowed_tenants),
        email_verified=settings.is_email_verified,
    )
