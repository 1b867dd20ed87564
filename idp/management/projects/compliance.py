"""Finds settings of an application that are allowed but against current best practice; every
answer about the application lists them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final
from urllib.parse import urlsplit

from idp.clients import redirect_uris
from idp.records import Application
from idp.schema.answers import Answer

_STARTS_REFRESH: Final = {
    "authorization_code",
    "urn:ietf:params:oauth:grant-type:device_code",
    "urn:ietf:params:oauth:grant-type:token-exchange",
}


class ComplianceProblem(Answer, frozen=True, kw_only=True):
    """Why an application is not as today's standards want it: `key` is for programs."""

    key: str
    localized_message: str


def problems(client: Application) -> list[ComplianceProblem]:
    """Returns a problem for each setting of an application that contradicts RFC 9700 or RFC 8252,
    or makes the application unusable."""
    return [
        ComplianceProblem(key=f"app.{key}", localized_message=text)
        for key, (is_so, text) in _RULES.items()
        if is_so(client)
    ]


def _has_no_address(client: Application) -> bool:
    return bool(client.response_types) and not client.redirect_uris


def _is_readable(client: Application) -> bool:
    uris = [*client.redirect_uris, *client.post_logout_redirect_uris]
    return any(redirect_uris.is_open_http(uri) for uri in uris)


def _shows_its_secret(client: Application) -> bool:
    return client.app_type in ("user_agent", "native") and client.auth_method != "none"


def _has_no_use_of_codes(client: Application) -> bool:
    return "code" in client.response_types and "authorization_code" not in client.grant_types


def _has_nothing_to_refresh(client: Application) -> bool:
    grants = set(client.grant_types)
    return "refresh_token" in grants and not grants & _STARTS_REFRESH


def _has_no_use_of_implicit(client: Application) -> bool:
    # The response types of the implicit flow (OpenID Connect Core 3.2.2.1).
    is_used = {"id_token", "id_token token"} & set(client.response_types)
    return "implicit" in client.grant_types and not is_used


def _hands_tokens_to_the_browser(client: Application) -> bool:
    return "id_token token" in client.response_types


def _is_framed_elsewhere(client: Application) -> bool:
    uri = client.front_channel_logout_uri
    return uri is not None and _place(uri) not in {_place(one) for one in client.redirect_uris}


def _place(uri: str) -> tuple[str, str]:
    parts = urlsplit(uri)
    return parts.scheme.lower(), parts.netloc.lower()


_RULES: Final[dict[str, tuple[Callable[[Application], bool], str]]] = {
    "redirect_uris.missing": (
        _has_no_address,
        "Without a redirect URI nobody can sign in.",
    ),
    "redirect_uris.http": (
        _is_readable,
        "A redirect URI is readable on its way (http).",
    ),
    "auth_method.secret": (
        _shows_its_secret,
        "Whoever has a browser or native app has its secret: use PKCE without a secret.",
    ),
    "response_types.code": (
        _has_no_use_of_codes,
        "Without the grant authorization code, a code can't be redeemed.",
    ),
    "grant_types.code": (
        _has_nothing_to_refresh,
        "Refresh tokens come of codes, devices and token exchange only.",
    ),
    "response_types.implicit": (
        _has_no_use_of_implicit,
        "Without a response type id_token, the grant implicit is of no use.",
    ),
    "response_types.token": (
        _hands_tokens_to_the_browser,
        "An access token in an address can be stolen there (RFC 9700, 2.1.2): use codes.",
    ),
    "front_channel_logout_uri.place": (
        _is_framed_elsewhere,
        "The front-channel logout URI is at another place than every redirect URI.",
    ),
}
