"""The settings of an application: the fields of its form, and the properties on its page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from handlers.forms import cells
from handlers.forms.cells import Cell, labelled_cell
from handlers.forms.fields import FieldKind, FormField
from handlers.forms.run_operation import Document
from idp.clients.wire_names import (
    ALGORITHMS,
    APP_TYPES,
    AUTH_METHODS,
    GRANT_TYPES,
    RESPONSE_TYPES,
    TOKEN_TYPES,
)
from idp.foundation.i18n import Message, message
from idp.management.projects.api_apps import AUTH_METHODS as API_METHODS

KINDS: Final[dict[str, Message]] = {
    "web": message("Server-side web application", context="applications"),
    "user_agent": message("Single-page application", context="applications"),
    "native": message("Native app or command line", context="applications"),
    "api": message("API", context="applications"),
}
_METHODS: Final[dict[str, Message]] = {
    "client_secret_basic": message("Client secret (HTTP Basic)", context="applications"),
    "client_secret_post": message("Client secret (POST body)", context="applications"),
    "none": message("None (PKCE)", context="applications"),
    "private_key_jwt": message("Key (private_key_jwt)", context="applications"),
}
_TOKENS: Final[dict[str, Message]] = {
    "opaque": message("Opaque", context="applications"),
    "jwt": message("JWT", context="applications"),
}

APP_TYPE: Final = message("Kind", context="applications")
METHOD: Final = message("Client authentication method", context="applications")
REDIRECTS: Final = message("Redirect URIs", context="applications")
AFTER_LOGOUT: Final = message("Post-logout redirect URIs", context="applications")
ONE_PER_LINE: Final = message(
    "One per line, exactly as the application sends them.", context="applications"
)
USERS: Final = message("Who can use it", context="applications")
_USERS: Final = [
    ("OIDC_ALLOWED_USERS_EVERYBODY", message("Everyone", context="applications")),
    (
        "OIDC_ALLOWED_USERS_OWN_ORGANIZATION",
        message("Users of this organization", context="applications"),
    ),
    (
        "OIDC_ALLOWED_USERS_GRANTED",
        message(
            "Users of this organization and of those that the project is granted to",
            context="applications",
        ),
    ),
]
_GRANTS: Final = message("Grant types", context="applications")
_RESPONSES: Final = message("Response types", context="applications")


def _option(name: str, label: Message, hint: Message | None = None) -> FormField:
    return FormField(
        path=name,
        source=f"app.oidcConfig.{name}",
        label=label,
        hint=hint,
        kind="switch",
        default=False,
        is_sent_empty=True,
    )


def _entry(
    name: str, label: Message, kind: FieldKind = "url", hint: Message | None = None
) -> FormField:
    return FormField(
        path=name,
        source=f"app.oidcConfig.{name}",
        label=label,
        hint=hint,
        kind=kind,
        direction="ltr",
    )


def _choice(
    name: str, label: Message, options: Sequence[tuple[str, Any]], kind: FieldKind
) -> FormField:
    return FormField(
        path=name, source=f"app.oidcConfig.{name}", label=label, kind=kind, options=options
    )


def users_field(default: str) -> FormField:
    """Returns the form field for who may use a new application; `default` is the installation's
    default."""
    return FormField(
        path="allowedUsers", label=USERS, kind="choice", options=_USERS, default=default
    )


FIELDS: Final = (
    _choice(
        "appType", APP_TYPE, [(name, KINDS[kind]) for name, kind in APP_TYPES.items()], "choice"
    ),
    _choice(
        "authMethodType",
        METHOD,
        [(name, _METHODS[method]) for name, method in AUTH_METHODS.items()],
        "choice",
    ),
    _choice("allowedUsers", USERS, _USERS, "choice"),
    _entry("redirectUris", REDIRECTS, "lines", ONE_PER_LINE),
    _entry("postLogoutRedirectUris", AFTER_LOGOUT, "lines", ONE_PER_LINE),
    _choice("grantTypes", _GRANTS, list(GRANT_TYPES.items()), "choices"),
    _choice("responseTypes", _RESPONSES, list(RESPONSE_TYPES.items()), "choices"),
    _choice(
        "accessTokenType",
        message("Access tokens", context="applications"),
        [(name, _TOKENS[kind]) for name, kind in TOKEN_TYPES.items()],
        "choice",
    ),
    _choice(
        "idTokenSignedResponseAlg",
        message("Signing algorithm", context="applications"),
        list(ALGORITHMS.items()),
        "choice",
    ),
    _option(
        "idTokenUserinfoAssertion",
        message("Userinfo claims in the ID token", context="applications"),
        message("For applications that don't call the userinfo endpoint.", context="applications"),
    ),
    _option("idTokenRoleAssertion", message("Roles in the ID token", context="applications")),
    _option(
        "accessTokenRoleAssertion", message("Roles in the access token", context="applications")
    ),
    _entry(
        "groupsClaim",
        message("Claim with a flat list of roles", context="applications"),
        "text",
        message("For example, groups. Leave it empty for none.", context="applications"),
    ),
    _option("thirdParty", message("Ask users for consent", context="applications")),
    _option(
        "loopbackAnyPort",
        message("Allow any loopback port", context="applications"),
        message("For command-line and desktop apps (RFC 8252).", context="applications"),
    ),
    _option(
        "requirePushedRequests",
        message("Require pushed authorization requests (PAR)", context="applications"),
    ),
    _option(
        "requirePkce",
        message("Require PKCE", context="applications"),
        message("Always required for applications without a secret.", context="applications"),
    ),
    _option(
        "strictAuthMethod",
        message("Accept only this authentication method", context="applications"),
        message(
            "Otherwise the secret is accepted in the header and in the form.",
            context="applications",
        ),
    ),
    _option(
        "confirmReturn",
        message("Ask before returning to the app", context="applications"),
        message(
            "For native apps without a secret. Also asks users who are already signed in.",
            context="applications",
        ),
    ),
    _option(
        "devMode",
        message("Development mode", context="applications"),
        message("Allows redirect URIs with unencrypted http.", context="applications"),
    ),
    _option(
        "managementAccess",
        message("Its tokens can call the management API", context="applications"),
        message("Only owners of the installation can set this.", context="applications"),
    ),
    _entry("homeUrl", message("Home page", context="applications")),
    _entry("backChannelLogoutUri", message("Back-channel logout", context="applications")),
    _entry("frontChannelLogoutUri", message("Front-channel logout", context="applications")),
    _entry("additionalOrigins", message("Allowed CORS origins", context="applications"), "lines"),
    _entry(
        "refreshTokenReuseSeconds",
        message("Seconds for which a refresh token can be reused", context="applications"),
        "number",
    ),
    _entry(
        "clockSkew",
        message("Clock tolerance, 0s to 5s", context="applications"),
        "text",
    ),
)
API_FIELDS: Final = (
    FormField(
        path="authMethodType",
        source="app.apiConfig.authMethodType",
        label=METHOD,
        kind="choice",
        options=[(name, _METHODS[method]) for name, method in API_METHODS.items()],
    ),
)


# The settings in each tab of the page of an application; the first has the others.
_IDENTIFICATION: Final = ("appType", "authMethodType")
_TABS: Final[Mapping[str, tuple[str, ...]]] = {
    "urls": (
        "redirectUris",
        "postLogoutRedirectUris",
        "homeUrl",
        "backChannelLogoutUri",
        "frontChannelLogoutUri",
        "additionalOrigins",
        "loopbackAnyPort",
        "devMode",
    ),
    "tokens": (
        "grantTypes",
        "responseTypes",
        "requirePkce",
        "requirePushedRequests",
        "strictAuthMethod",
        "accessTokenType",
        "idTokenSignedResponseAlg",
        "idTokenUserinfoAssertion",
        "idTokenRoleAssertion",
        "accessTokenRoleAssertion",
        "groupsClaim",
        "refreshTokenReuseSeconds",
        "clockSkew",
    ),
    "access": ("allowedUsers", "thirdParty", "confirmReturn", "managementAccess"),
}
_SETTING: Final = message("Setting", context="policies")
_VALUE: Final = message("Value", context="policies")
_FIELDS_BY_PATH: Final = {field.path: field for field in FIELDS}


def identification(app: Document) -> list[dict[str, object]]:
    """Returns the template values of what an application is and how it authenticates."""
    if "apiConfig" in app:
        method = _value_cell(API_FIELDS[0], app["apiConfig"]["authMethodType"])
        return [labelled_cell(APP_TYPE, cells.text(KINDS["api"])), labelled_cell(METHOD, method)]
    return [
        labelled_cell(_FIELDS_BY_PATH[path].label, _setting(app, path)) for path in _IDENTIFICATION
    ]


def part(
    app: Document, tab: str, title: Message, actions: Sequence[dict[str, object]]
) -> dict[str, Any]:
    """Returns the template value of the settings in a tab of the page of an application."""
    rows = [[cells.text(_FIELDS_BY_PATH[path].label), _setting(app, path)] for path in _TABS[tab]]
    return cells.sub_list(title, [_SETTING, _VALUE], rows, _SETTING, actions)


def _setting(app: Document, path: str) -> Cell:
    field, value = _FIELDS_BY_PATH[path], app["oidcConfig"].get(path)
    if field.kind == "switch":
        return cells.switch(bool(value))
    return _value_cell(field, value) if value else cells.text(None)


def _value_cell(field: FormField, value: Any) -> Cell:
    if field.kind == "choice":
        return cells.text(dict(field.options).get(value, value))
    if field.kind == "choices":
        names = dict(field.options)
        return cells.codes([str(names.get(option, option)) for option in value])
    if field.kind == "lines":
        return cells.codes(value)
    return cells.code(str(value))
