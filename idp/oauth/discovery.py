"""The discovery document (OpenID Connect Discovery 1.0): exactly what is accepted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from idp.config import Config
from idp.oauth import claims, client_auth, grants, scopes
from idp.oauth.acr import PASSWORD
from idp.oauth.assertions import ALGORITHMS
from idp.oauth.endpoints import (
    AUTHORIZE,
    END_SESSION,
    INTROSPECT,
    KEYS,
    REVOKE,
    TOKEN,
    USERINFO,
)

PROMPTS: Final = ("none", "login", "select_account", "create", "consent")
_ID_TOKEN_CLAIMS: Final = (
    "iss",
    "aud",
    "exp",
    "iat",
    "auth_time",
    "nonce",
    "acr",
    "amr",
    "azp",
    "at_hash",
    "sid",
)


def document(config: Config, ui_locales: Sequence[str]) -> dict[str, Any]:
    """The document of this issuer. Its addresses come from the configured base alone."""
    base = config.issuer
    return {
        "issuer": base,
        "authorization_endpoint": base + AUTHORIZE,
        "token_endpoint": base + TOKEN,
        "introspection_endpoint": base + INTROSPECT,
        "userinfo_endpoint": base + USERINFO,
        "revocation_endpoint": base + REVOKE,
        "end_session_endpoint": base + END_SESSION,
        "jwks_uri": base + KEYS,
        "scopes_supported": list(scopes.SUPPORTED),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query", "fragment"],
        "grant_types_supported": list(grants.GRANTS),
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["RS256"],
        "token_endpoint_auth_methods_supported": list(client_auth.TOKEN_METHODS),
        "token_endpoint_auth_signing_alg_values_supported": list(ALGORITHMS),
        "introspection_endpoint_auth_methods_supported": list(client_auth.INTROSPECTION_METHODS),
        "introspection_endpoint_auth_signing_alg_values_supported": list(ALGORITHMS),
        "revocation_endpoint_auth_methods_supported": list(client_auth.TOKEN_METHODS),
        "revocation_endpoint_auth_signing_alg_values_supported": list(ALGORITHMS),
        "code_challenge_methods_supported": ["S256"],
        "acr_values_supported": [PASSWORD],
        "claim_types_supported": ["normal"],
        "claims_supported": [*claims.SUPPORTED, *_ID_TOKEN_CLAIMS],
        "claims_parameter_supported": False,
        "request_parameter_supported": False,
        "request_uri_parameter_supported": False,
        "prompt_values_supported": list(PROMPTS),
        "ui_locales_supported": list(ui_locales),
        "backchannel_logout_supported": True,
        "backchannel_logout_session_supported": True,
        "frontchannel_logout_supported": True,
        "frontchannel_logout_session_supported": True,
        "authorization_response_iss_parameter_supported": True,
    }
