"""Finds settings of an application that are allowed but against current best practice; every
answer about the application lists them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final
from urllib.parse import urlsplit

from idp.clients import redirect_uris
from idp.records import Application
from idp.schema.answers import Answer

_GRANTS_WITH_REFRESH_TOKENS: Final = {
    "authorization_code",
    "urn:ietf:params:oauth:grant-type:device_code",
    "urn:ietf:params:oauth:grant-type:token-exchange",
}


class ComplianceProblem(Answer, frozen=True, kw_only=True):
    """A setting of an application that contradicts current best practice. `key` identifies the
    problem for programs.
    """

    key: str
    localized_message: str


def problems(client: Application) -> list[ComplianceProblem]:
    """Returns a problem for each setting of an application that contradicts RFC 9700 or RFC 8252,
    or makes the application unusable."""
    return [
        ComplianceProblem(key=f"app.{key}", localized_message=text)
        for key, (has_problem, text) in _RULES.items()
        if has_problem(client)
    ]


def _has_no_redirect_uri(client: Application) -> bool:
    return bool(client.response_types) and not client.redirect_uris


def _has_unencrypted_uri(client: Application) -> bool:
    uris = [*client.redirect_uris, *client.post_logout_redirect_uris]
    return any(redirect_uris.is_unencrypted_http(uri) for uri in uris)


def _has_exposed_secret(client: Application) -> bool:
    return client.app_type in ("user_agent", "native") and client.auth_method != "none"


def _cannot_redeem_codes(client: Application) -> bool:
    return "code" in client.response_types and "authorization_code" not in client.grant_types


def _has_unusable_refresh_grant(client: Application) -> bool:
    grants = set(client.grant_types)
    return "refresh_token" in grants and not grants & _GRANTS_WITH_REFRESH_TOKENS


def _has_unusable_implicit_grant(client: Application) -> bool:
    # The response types of the implicit flow (OpenID Connect Core 3.2.2.1).
    is_used = {"id_token", "id_token token"} & set(client.response_types)
    return "implicit" in client.grant_types and not is_used


def _returns_access_tokens_in_uris(client: Application) -> bool:
    return "id_token token" in client.response_types


def _has_logout_uri_of_other_origin(client: Application) -> bool:
    uri = client.front_channel_logout_uri
    return uri is not None and _origin(uri) not in {
        _origin(redirect_uri) for redirect_uri in client.redirect_uris
    }


def _origin(uri: str) -> tuple[str, str]:
    parts = urlsplit(uri)
    return parts.scheme.lower(), parts.netloc.lower()


_RULES: Final[dict[str, tuple[Callable[[Application], bool], str]]] = {
    "redirect_uris.missing": (
        _has_no_redirect_uri,
        "Without a redirect URI no user can sign in.",
    ),
    "redirect_uris.http": (
        _has_unencrypted_uri,
        "A redirect URI uses http, which is not encrypted.",
    ),
    "auth_method.secret": (
        _has_exposed_secret,
        "A browser or native app can't keep a secret: use PKCE without a secret.",
    ),
    "response_types.code": (
        _cannot_redeem_codes,
        "Without the authorization code grant, a code can't be redeemed.",
    ),
    "grant_types.code": (
        _has_unusable_refresh_grant,
        "Refresh tokens are issued only for codes, devices and token exchange.",
    ),
    "response_types.implicit": (
        _has_unusable_implicit_grant,
        "Without a response type id_token, the implicit grant has no effect.",
    ),
    "response_types.token": (
        _returns_access_tokens_in_uris,
        "An access token in a URL can leak (RFC 9700, 2.1.2): use codes.",
    ),
    "front_channel_logout_uri.place": (
        _has_logout_uri_of_other_origin,
        "The front-channel logout URI has a different origin than every redirect URI.",
    ),
}
