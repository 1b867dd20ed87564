"""The forms of connections: the fields of each kind, and those of all kinds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from handlers.forms.fields import FieldKind, FormField
from idp.foundation.i18n import Message, message
from idp.records.connections import ConnectionKind

_SETTINGS: Final = "idp.settings"
_OPTIONS: Final = "providerOptions"

_CLIENT_ID: Final = message("Client ID", context="console")
_SCOPES: Final = message("Scopes", context="connections")
_ISSUER: Final = message("Issuer", context="connections")
_ONE_PER_LINE: Final = message("One per line.", context="connections")
_UNCHANGED: Final = message("Leave it empty to keep the stored one.", context="connections")
_ADDRESSES_GROUP: Final = message("Addresses", context="connections")
_LINKING_GROUP: Final = message("Linking and creating users", context="connections")
_DOMAINS_GROUP: Final = message("Domains", context="connections")
_MORE_GROUP: Final = message("More", context="console")
_EMAIL_VERIFIED: Final = message("The provider verifies email addresses", context="connections")

TITLES: Final[Mapping[ConnectionKind, Message]] = {
    "generic_oidc": Message("OpenID Connect"),
    "google": Message("Google"),
    "azure": Message("Microsoft Entra ID"),
    "gitlab": Message("GitLab"),
    "gitlab_self_hosted": Message("GitLab Self-Managed"),
}
_AUTHENTICATION_METHODS: Final = (
    ("basic", Message("client_secret_basic")),
    ("post", Message("client_secret_post")),
    ("none", Message("none")),
)


def _field(
    path: str,
    label: Message,
    kind: FieldKind = "text",
    group: Message | None = None,
    *,
    is_required: bool = False,
) -> FormField:
    is_list, is_switch = kind == "lines", kind == "switch"
    return FormField(
        path=path,
        source=f"{_SETTINGS}.{path}",
        label=label,
        kind=kind,
        hint=_ONE_PER_LINE if is_list else _UNCHANGED if kind == "password" else None,
        direction="ltr",
        default=False if is_switch else None,
        group=group,
        is_required=is_required,
        is_sent_empty=kind in ("text", "lines", "switch") and not is_required,
    )


def _option(name: str, label: Message, kind: FieldKind, group: Message) -> FormField:
    return _field(f"{_OPTIONS}.{name}", label, kind, group)


def _choice(
    path: str,
    label: Message,
    options: Sequence[tuple[str, Message]],
    group: Message | None = None,
) -> FormField:
    return FormField(
        path=path,
        source=f"{_SETTINGS}.{path}",
        label=label,
        kind="choice",
        options=options,
        default=options[0][0],
        direction="ltr",
        group=group,
    )


_ID: Final = _field("clientId", _CLIENT_ID, is_required=True)
_SECRET: Final = _field(
    "clientSecret", message("Client secret", context="connections"), "password"
)
_ALL_SCOPES: Final = _field("scopes", _SCOPES, "lines", _MORE_GROUP)
_CLIENT: Final = (_ID, _SECRET, _ALL_SCOPES)


_ENDPOINTS: Final = {
    "authorizationEndpoint": message("Authorization endpoint", context="connections"),
    "tokenEndpoint": message("Token endpoint", context="connections"),
    "userinfoEndpoint": message("Userinfo endpoint", context="connections"),
    "jwksUri": Message("JWKS URI"),
}
_OIDC: Final = (
    _field("issuer", _ISSUER, "url", is_required=True),
    *_CLIENT,
    _choice(
        "clientAuthentication",
        message("Client authentication", context="connections"),
        _AUTHENTICATION_METHODS,
        _MORE_GROUP,
    ),
    *(_field(name, label, "url", _ADDRESSES_GROUP) for name, label in _ENDPOINTS.items()),
)
FIELDS_BY_KIND: Final[Mapping[ConnectionKind, tuple[FormField, ...]]] = {
    "generic_oidc": _OIDC,
    "google": (
        *_CLIENT,
        _field(
            "hostedDomains", message("Hosted domains", context="connections"), "lines", _MORE_GROUP
        ),
    ),
    "azure": (
        *_CLIENT,
        _field("tenant.tenantId", message("Tenant ID", context="connections")),
        _field(
            "allowedTenants",
            message("Allowed tenants", context="connections"),
            "lines",
            _MORE_GROUP,
        ),
        _field("emailVerified", _EMAIL_VERIFIED, "switch", _MORE_GROUP),
    ),
    "gitlab": _CLIENT,
    "gitlab_self_hosted": (_field("issuer", _ISSUER, "url", is_required=True), *_CLIENT),
}
NAME: Final = _field("name", message("Name", context="console"), is_required=True)
COMMON_FIELDS: Final = (
    _option(
        "isLinkingAllowed",
        message("Users can link their accounts", context="connections"),
        "switch",
        _LINKING_GROUP,
    ),
    _option(
        "isCreationAllowed",
        message("Users can create accounts", context="connections"),
        "switch",
        _LINKING_GROUP,
    ),
    _option(
        "isAutoCreation",
        message("Create users automatically", context="connections"),
        "switch",
        _LINKING_GROUP,
    ),
    _option(
        "domains",
        message("Domains whose users are sent to the provider", context="connections"),
        "lines",
        _DOMAINS_GROUP,
    ),
    _option(
        "trustedDomains",
        message("Domains whose email addresses the provider verifies", context="connections"),
        "lines",
        _DOMAINS_GROUP,
    ),
    _option(
        "mapping.userName",
        message("Claims for the username", context="connections"),
        "lines",
        _MORE_GROUP,
    ),
)


def fields_of_kind(kind: ConnectionKind) -> tuple[FormField, ...]:
    """Returns the fields of the form of a connection of this kind."""
    return (NAME, *FIELDS_BY_KIND[kind], *COMMON_FIELDS)
