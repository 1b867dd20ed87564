"""The management API's names for the settings of an OpenID Connect application, each with the
stored value."""

from __future__ import annotations

from typing import Final

from idp.oauth.grants import GRANTS
from idp.records import (
    AllowedUsers,
    AppType,
    AuthMethod,
    ResponseType,
    SigningAlgorithm,
    TokenKind,
)

APP_TYPES: Final[dict[str, AppType]] = {
    "OIDC_APP_TYPE_WEB": "web",
    "OIDC_APP_TYPE_USER_AGENT": "user_agent",
    "OIDC_APP_TYPE_NATIVE": "native",
}

AUTH_METHODS: Final[dict[str, AuthMethod]] = {
    "OIDC_AUTH_METHOD_TYPE_BASIC": "client_secret_basic",
    "OIDC_AUTH_METHOD_TYPE_POST": "client_secret_post",
    "OIDC_AUTH_METHOD_TYPE_NONE": "none",
    "OIDC_AUTH_METHOD_TYPE_PRIVATE_KEY_JWT": "private_key_jwt",
}

RESPONSE_TYPES: Final[dict[str, ResponseType]] = {
    "OIDC_RESPONSE_TYPE_CODE": "code",
    "OIDC_RESPONSE_TYPE_ID_TOKEN": "id_token",
    "OIDC_RESPONSE_TYPE_ID_TOKEN_TOKEN": "id_token token",
}

GRANT_TYPES: Final[dict[str, str]] = {
    "OIDC_GRANT_TYPE_IMPLICIT": "implicit",  # not in GRANTS: it does not use the token endpoint
    **{grant.api_name: name for name, grant in GRANTS.items() if grant.api_name},
}

TOKEN_TYPES: Final[dict[str, TokenKind]] = {
    "OIDC_TOKEN_TYPE_BEARER": "opaque",
    "OIDC_TOKEN_TYPE_JWT": "jwt",
}

ALGORITHMS: Final[dict[str, SigningAlgorithm]] = {
    "RS256": "RS256",
    "ES256": "ES256",
    "EdDSA": "EdDSA",
}

ALLOWED_USERS: Final[dict[str, AllowedUsers]] = {
    "OIDC_ALLOWED_USERS_EVERYBODY": "everybody",
    "OIDC_ALLOWED_USERS_OWN_ORGANIZATION": "own_organization",
    "OIDC_ALLOWED_USERS_GRANTED": "granted",
}

IMPLICIT_RESPONSES: Final = frozenset(set(RESPONSE_TYPES) - {"OIDC_RESPONSE_TYPE_CODE"})
