"""The discovery document (OpenID Connect Discovery 1.0): exactly what this installation
accepts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, get_args

from idp.config.settings import Config
from idp.identity import authentication_context
from idp.keys.published import Published
from idp.oauth import grants, scopes
from idp.oauth.authentication import client_authentication
from idp.oauth.authentication.jwt_assertions import ALGORITHMS
from idp.oauth.endpoints.authorization_response import MODES
from idp.oauth.paths import (
    AUTHORIZE,
    DEVICE_AUTHORIZATION,
    END_SESSION,
    INTROSPECT,
    KEYS,
    PAR,
    REVOKE,
    TOKEN,
    USERINFO,
)
from idp.oauth.tokens import group_claims, standard_claims
from idp.records import INSTANCE_ID, INSTANCES, Instance, ResponseType, SigningAlgorithm
from idp.service import Service

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
_CLAIMS: Final = (*standard_claims.SUPPORTED, *group_claims.SUPPORTED, *_ID_TOKEN_CLAIMS)


async def published(service: Service, ui_locales: Sequence[str]) -> Published:
    """Returns the discovery document as it is sent; the parameters are those of `document`. It is
    encoded once for each change of the settings or of the grant types that are switched on, of
    which other processes learn within 5 s."""
    config = service.config
    instance = await service.settings_cache.get(
        "instance", service.clock.now(), lambda: service.store.get(INSTANCES, INSTANCE_ID)
    )
    source = (config, grants.offered(instance), ui_locales)
    return service.discovery.of(source, lambda: document(config, instance, ui_locales))


def document(
    config: Config, instance: Instance | None, ui_locales: Sequence[str]
) -> dict[str, Any]:
    """Returns the discovery document; `instance`, the installation's record (None before the
    set-up), decides its grant types, and `ui_locales` are the languages of the pages."""
    base = config.issuer
    return {
        "issuer": base,
        "authorization_endpoint": base + AUTHORIZE,
        "pushed_authorization_request_endpoint": base + PAR,
        # Not required of every client; a single one may be registered with this requirement (RFC
        # 9126 6).
        "require_pushed_authorization_requests": False,
        "device_authorization_endpoint": base + DEVICE_AUTHORIZATION,
        "token_endpoint": base + TOKEN,
        "introspection_endpoint": base + INTROSPECT,
        "userinfo_endpoint": base + USERINFO,
        "revocation_endpoint": base + REVOKE,
        "end_session_endpoint": base + END_SESSION,
        "jwks_uri": base + KEYS,
        "scopes_supported": list(scopes.SUPPORTED),
        "response_types_supported": list(get_args(ResponseType)),
        "response_modes_supported": list(MODES),
        # `implicit` has no part at the token endpoint, so it is not among the grants there.
        "grant_types_supported": [*grants.offered(instance), "implicit"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": list(get_args(SigningAlgorithm)),
        "token_endpoint_auth_methods_supported": list(client_authentication.TOKEN_METHODS),
        "token_endpoint_auth_signing_alg_values_supported": list(ALGORITHMS),
        "introspection_endpoint_auth_methods_supported": list(
            client_authentication.INTROSPECTION_METHODS
        ),
        "introspection_endpoint_auth_signing_alg_values_supported": list(ALGORITHMS),
        "revocation_endpoint_auth_methods_supported": list(client_authentication.TOKEN_METHODS),
        "revocation_endpoint_auth_signing_alg_values_supported": list(ALGORITHMS),
        "code_challenge_methods_supported": ["S256"],
        "acr_values_supported": list(authentication_context.offered(config)),
        "claim_types_supported": ["normal"],
        "claims_supported": list(_CLAIMS),
        "claims_parameter_supported": True,
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
