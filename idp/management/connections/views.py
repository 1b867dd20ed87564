"""The structs of the answers that contain connections. They hold no secret."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

import msgspec

from idp.management.connections import config_views, options
from idp.management.connections.config_views import KindConfig
from idp.management.connections.options import OptionsView
from idp.records.connections import ConnectionKind, ProviderConnection
from idp.schema import answers
from idp.schema.answers import Answer, Details
from idp.service import Service
from idp.upstream import paths

TYPES: Final[dict[ConnectionKind, str]] = {
    "generic_oidc": "PROVIDER_TYPE_OIDC",
    "google": "PROVIDER_TYPE_GOOGLE",
    "azure": "PROVIDER_TYPE_AZURE_AD",
    "gitlab": "PROVIDER_TYPE_GITLAB",
    "gitlab_self_hosted": "PROVIDER_TYPE_GITLAB_SELF_HOSTED",
}
SYSTEM: Final = "IDP_OWNER_TYPE_SYSTEM"
ORG: Final = "IDP_OWNER_TYPE_ORG"


class ConnectionCreated(Answer, frozen=True, kw_only=True):
    id: str
    details: Details


class ConnectionSummary(Answer, frozen=True, kw_only=True):
    """What a list of offered connections has of one."""

    id: str
    details: Details
    name: str
    type: str
    owner: str
    state: str
    position: int = 0


class ConnectionConfig(KindConfig, frozen=True, kw_only=True):
    """The settings of a connection, in the member of its kind, and what a sign-in by it may do."""

    options: OptionsView


class ConnectionView(ConnectionSummary, frozen=True, kw_only=True):
    """`callbackUrl` is the redirect URI that the provider has to know. `settings` are what a
    change of the connection sends, without the secret. `isLinked`: users are linked to identities
    there, or have been."""

    config: ConnectionConfig
    settings: dict[str, Any]
    has_client_secret: bool = False
    secret_changed_at: datetime | None = None
    callback_url: str = ""
    is_linked: bool = False


class ConnectionFound(Answer, frozen=True, kw_only=True):
    details: Details
    idp: ConnectionView


def summary(connection: ProviderConnection, instance_org_id: str) -> ConnectionSummary:
    """Returns a connection as lists of offered connections present it. `instance_org_id` is the
    organization that owns the installation's records."""
    return ConnectionSummary(
        id=connection.id,
        details=answers.details(connection, connection.org_id or instance_org_id),
        name=connection.name,
        type=TYPES[connection.kind],
        owner=ORG if connection.org_id else SYSTEM,
        state=f"IDP_STATE_{connection.state.upper()}",
        position=connection.position,
    )


def view(service: Service, connection: ProviderConnection, instance_org_id: str) -> ConnectionView:
    """Returns a connection in the form in which the API returns it."""
    base, secrets = summary(connection, instance_org_id), connection.sealed_secrets
    config, options_view = config_views.config_of(connection.settings), options.view(connection)
    return ConnectionView(
        id=base.id,
        details=base.details,
        name=base.name,
        type=base.type,
        owner=base.owner,
        state=base.state,
        position=base.position,
        config=ConnectionConfig(options=options_view, **config),
        settings=settings_of(connection),
        has_client_secret=secrets.client_secret is not None,
        secret_changed_at=secrets.changed_at,
        callback_url=paths.redirect_uri(service, connection.id),
        is_linked=connection.is_linked,
    )


def settings_of(connection: ProviderConnection) -> dict[str, Any]:
    """Returns the body of a change of the connection, without the secret."""
    (config,) = config_views.config_of(connection.settings).values()
    # Through JSON, so that the members have the API's names, and defaults are left out.
    return {
        "name": connection.name,
        "position": connection.position,
        "providerOptions": msgspec.json.decode(msgspec.json.encode(options.view(connection))),
        **msgspec.json.decode(msgspec.json.encode(config)),
    }
