"""The addresses of the protocol's endpoints, relative to the issuer."""

from __future__ import annotations

from typing import Final

DISCOVERY: Final = "/.well-known/openid-configuration"
AUTHORIZE: Final = "/oauth/v2/authorize"
TOKEN: Final = "/oauth/v2/token"  # noqa: S105 - a path, not a secret
INTROSPECT: Final = "/oauth/v2/introspect"
REVOKE: Final = "/oauth/v2/revoke"
KEYS: Final = "/oauth/v2/keys"
PAR: Final = "/oauth/v2/par"
DEVICE_AUTHORIZATION: Final = "/oauth/v2/device_authorization"
USERINFO: Final = "/oidc/v1/userinfo"
END_SESSION: Final = "/oidc/v1/end_session"
