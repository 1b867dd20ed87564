"""Connections to other identity providers: their settings by kind, and the links of users to
identities there."""

from __future__ import annotations

from datetime import datetime
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from idp.foundation import opaque_tokens
from idp.records.connection_tests import CONNECTION_TESTS
from idp.records.identity_links import IDENTITY_LINKS
from storage import Collection, Record

ConnectionKind = Literal[
    "generic_oidc",
    "google",
    "azure",
    "gitlab",
    "gitlab_self_hosted",
]
UpstreamAuthentication = Literal["basic", "post", "none"]
UpstreamAlgorithm = Literal["RS256", "PS256", "ES256", "EdDSA"]
OidcPreset = Literal["", "keycloak", "okta"]
AzureTenants = Literal["common", "organizations", "consumers", "tenant"]


class GenericOidcSettings(Struct, frozen=True, tag_field="kind", tag="generic_oidc"):
    """A provider of OpenID Connect. Without the endpoints they are read from its discovery
    document.

    `preset` is the product by whose rule the issuer was derived: from `base_url` and `realm`
    (Keycloak), or from `domain` and `authorization_server` (Okta).
    """

    issuer: str
    client_id: str
    client_authentication: UpstreamAuthentication = "basic"
    scopes: tuple[str, ...] = ()
    id_token_algorithms: tuple[UpstreamAlgorithm, ...] = ("RS256", "PS256", "ES256", "EdDSA")
    uses_id_token_mapping: bool = False
    authorization_endpoint: str = ""
    token_endpoint: str = ""
    userinfo_endpoint: str = ""
    jwks_uri: str = ""
    preset: OidcPreset = ""
    base_url: str = ""
    realm: str = ""
    domain: str = ""
    authorization_server: str = ""


class GoogleSettings(Struct, frozen=True, tag_field="kind", tag="google"):
    """`hosted_domains` are those whose users may sign in; any if there are none."""

    client_id: str
    scopes: tuple[str, ...] = ()
    hosted_domains: tuple[str, ...] = ()


class AzureSettings(Struct, frozen=True, tag_field="kind", tag="azure"):
    """Microsoft Entra ID: one tenant (`tenant_id`), or several, of which `allowed_tenants` may
    sign in; any if there are none."""

    client_id: str
    tenants: AzureTenants = "common"
    tenant_id: str = ""
    allowed_tenants: tuple[str, ...] = ()
    is_email_verified: bool = False
    scopes: tuple[str, ...] = ()


class GitlabSettings(Struct, frozen=True, tag_field="kind", tag="gitlab"):
    client_id: str
    scopes: tuple[str, ...] = ()


class GitlabSelfHostedSettings(Struct, frozen=True, tag_field="kind", tag="gitlab_self_hosted"):
    issuer: str
    client_id: str
    scopes: tuple[str, ...] = ()


ConnectionSettings: TypeAlias = (
    GenericOidcSettings
    | GoogleSettings
    | AzureSettings
    | GitlabSettings
    | GitlabSelfHostedSettings
)


class ConnectionOptions(Struct, frozen=True):
    """The steps that a sign-in may take if the identity is linked to no user: link it to an
    account that the person signs in to, let the person create one, or create one immediately."""

    is_linking_allowed: bool = False
    is_creation_allowed: bool = False
    is_auto_creation: bool = False


class ClaimMapping(Struct, frozen=True):
    """The sources of a user's fields: names of claims or JSON pointers (RFC 6901),
    of which the first that is not empty is used. A field without any has the kind's own."""

    user_name: tuple[str, ...] = ()
    given_name: tuple[str, ...] = ()
    family_name: tuple[str, ...] = ()
    display_name: tuple[str, ...] = ()
    nick_name: tuple[str, ...] = ()
    preferred_language: tuple[str, ...] = ()
    email: tuple[str, ...] = ()


class ConnectionSecrets(Struct, frozen=True):
    """The secrets of a connection, sealed. `changed_at` is when one was set last."""

    client_secret: str | None = None
    changed_at: datetime | None = None


class ProviderConnection(Record):
    """A connection of an organization, or (`org_id` None) of the installation, to another identity
    provider.

    `name_key` is casefold(NFKC(name)), and `owner_name_key` the digest of the owner and it.
    `domains` are those whose users are sent to the provider, `trusted_domains` those for whose
    addresses its statements are trusted. `authority` is the issuer of its identities' ids
    (`idp/upstream/authorities.py`). `stamp` changes with a deactivation, and with the trust of the
    connection: sign-ins in progress are then refused. `position` orders the buttons of the sign-in
    page. `is_linked` is set before the first user is linked, and stays set: sign-ins do not change
    the record, because all of them share it.
    """

    name: str
    name_key: str
    owner_name_key: str
    kind: ConnectionKind
    authority: str
    stamp: str
    settings: ConnectionSettings
    created_at: datetime
    changed_at: datetime
    org_id: str | None = None
    state: Literal["active", "inactive"] = "active"
    options: ConnectionOptions = ConnectionOptions()
    mapping: ClaimMapping = ClaimMapping()
    domains: tuple[str, ...] = ()
    trusted_domains: tuple[str, ...] = ()
    sealed_secrets: ConnectionSecrets = ConnectionSecrets()
    position: int = 0
    is_linked: bool = False
    sequence: int = 1


class OfferedConnections(Record):
    """The connections that the sign-in pages of an organization offer, or (`org_id` None) those of
    organizations that have no such record; the id is the digest of the owner."""

    connection_ids: list[str]
    created_at: datetime
    changed_at: datetime
    org_id: str | None = None
    sequence: int = 1


OFFERED_CONNECTIONS: Final = Collection(
    "offered_connections", OfferedConnections, lists=(("org_id",),)
)
CONNECTIONS: Final = Collection(
    "connections", ProviderConnection, unique=("owner_name_key",), lists=(("org_id", "name_key"),)
)
COLLECTIONS: Final = (CONNECTIONS, OFFERED_CONNECTIONS, IDENTITY_LINKS, CONNECTION_TESTS)


def offered_id(org_id: str | None) -> str:
    """Returns the id of the record of the connections that an organization (None: the
    installation) offers."""
    return opaque_tokens.digest(f"offered connections\n{org_id or ''}")


def owner_name_key(org_id: str | None, name_key: str) -> str:
    """Returns `Connection.owner_name_key` for a name of the organization (None: of the
    installation)."""
    return opaque_tokens.digest(f"{org_id or ''}\n{name_key}")
