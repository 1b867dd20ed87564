"""The protocol's forms as an OpenAPI description: what a generator of requests reads.

Values are those of the standards, and what is genuine just now; a generator adds its own.
"""

from __future__ import annotations

from typing import Any, Final

from tests.fuzz.values import WORDS
from tests.fuzz.world import CALLBACK, World

FORM: Final = "application/x-www-form-urlencoded"
_TEXT: Final = {"type": "string"}
AUTHORIZE: Final = [
    *["client_id", "redirect_uri", "response_type", "scope"],
    *["state", "nonce", "code_challenge", "code_challenge_method", "response_mode", "prompt"],
    *["max_age", "id_token_hint", "login_hint", "ui_locales", "claims", "acr_values", "display"],
    *["request", "request_uri"],
]
CLIENT: Final = ["client_id", "client_secret", "client_assertion", "client_assertion_type"]
TOKEN: Final = [
    *["grant_type", "code", "redirect_uri", "code_verifier", "refresh_token", "scope"],
    *["assertion", "device_code", "subject_token", "subject_token_type", "actor_token"],
    *["actor_token_type", "requested_token_type", "audience", "resource"],
]
# Path: methods, parameters, and how many of them, from the first, there have to be.
ENDPOINTS: Final[dict[str, tuple[list[str], list[str], int]]] = {
    "/oauth/v2/authorize": (["get", "post"], AUTHORIZE, 4),
    "/oauth/v2/par": (["post"], [*AUTHORIZE, *CLIENT[1:]], 4),
    "/oauth/v2/token": (["post"], [*TOKEN, *CLIENT], 1),
    "/oauth/v2/introspect": (["post"], ["token", "token_type_hint", *CLIENT], 1),
    "/oauth/v2/revoke": (["post"], ["token", "token_type_hint", *CLIENT], 1),
    "/oauth/v2/device_authorization": (["post"], ["client_id", "scope", *CLIENT[1:]], 1),
    "/oidc/v1/userinfo": (["get", "post"], ["access_token"], 0),
    "/oidc/v1/end_session": (
        ["get", "post"],
        ["id_token_hint", "post_logout_redirect_uri", "client_id", "state", "ui_locales"],
        0,
    ),
    "/ui/login/name": (["get", "post"], ["flow", "token", "loginName", "decision"], 1),
    "/ui/login/accounts": (
        ["get", "post"],
        ["flow", "token", "account", "signedOut", "forget", "decision"],
        1,
    ),
    "/ui/login/organization": (["get", "post"], ["flow", "token", "organization"], 1),
    "/ui/account/profile/edit": (["get", "post"], ["session", "token", "done", "sequence"], 0),
    "/ui/account/sessions": (["get", "post"], ["session", "token", "decision"], 0),
    "/ui/account/applications": (["get", "post"], ["application", "token", "lang"], 0),
    "/ui/login/reset": (["get", "post"], ["flow", "token", "start", "loginName"], 1),
    "/ui/login/reset-code": (["get", "post"], ["flow", "token", "code", "decision"], 1),
    "/ui/reset": (["get", "post"], ["key", "flow", "start", "newPassword"], 0),
    "/ui/connection-test": (["get", "post"], ["key", "test"], 0),
    "/ui/device": (["get", "post"], ["user_code", "userCode"], 0),
    "/oauth/v2/keys": (["get"], [], 0),
    "/.well-known/openid-configuration": (["get"], [], 0),
}


def description(world: World) -> dict[str, Any]:
    """The document, with what the world holds as the values of its parameters."""
    genuine = {"type": "string", "enum": sorted({*WORDS, *_genuine(world)})}
    value = {"anyOf": [genuine, _TEXT]}
    paths = {
        path: {method: _operation(method, names, needed, value) for method in methods}
        for path, (methods, names, needed) in ENDPOINTS.items()
    }
    return {"openapi": "3.1.0", "info": {"title": "forms", "version": "1"}, "paths": paths}


def _genuine(world: World) -> set[str]:
    clients = [client.party for client in world.clients.values()]
    ids = {client.client_id for client in clients} | {CALLBACK}
    return {*ids, *(each.client_secret for each in clients if each.client_secret), *world.held}


def _operation(method: str, names: list[str], needed: int, value: dict) -> dict[str, Any]:
    header = {"name": "Authorization", "in": "header", "schema": value}
    operation: dict[str, Any] = {
        "parameters": [header],
        "responses": {"default": {"description": "an answer"}},
    }
    if method == "get":
        operation["parameters"] += [
            {"name": name, "in": "query", "required": n < needed, "schema": value}
            for n, name in enumerate(names)
        ]
    else:
        schema = {
            "type": "object",
            "properties": dict.fromkeys(names, value),
            "required": names[:needed],
            "additionalProperties": False,
        }
        operation["requestBody"] = {"required": True, "content": {FORM: {"schema": schema}}}
    return operation
