"""Warnings about redirect URIs that are allowed but often a mistake.

A redirect URI is compared with the registered ones character by character (RFC 9700 4.1.3), so
most warnings are about applications that are likely to send a slightly different one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final
from urllib.parse import SplitResult, urlsplit

from idp.clients import redirect_uris
from idp.records import Application
from idp.schema.answers import Answer

_DEFAULT_PORTS: Final = {"http": 80, "https": 443}


class UriWarning(Answer, frozen=True, kw_only=True):
    """`field` is the JSON path of the URI, `key` is for programs."""

    field: str
    key: str
    localized_message: str


def warnings(client: Application) -> list[UriWarning]:
    """Returns the warnings about an application's redirect URIs."""
    lists = {
        "redirectUris": client.redirect_uris,
        "postLogoutRedirectUris": client.post_logout_redirect_uris,
    }
    return [
        UriWarning(field=f"{field}[{n}]", key=f"redirect_uri.{key}", localized_message=text)
        for field, uris in lists.items()
        for n, uri in enumerate(uris)
        for key, (has_problem, text) in _RULES.items()
        if has_problem(client, uri, uris)
    ]


def _is_unencrypted(client: Application, uri: str, uris: Sequence[str]) -> bool:
    return redirect_uris.is_unencrypted_http(uri)


def _is_registered_without_slash(client: Application, uri: str, uris: Sequence[str]) -> bool:
    return uri.endswith("/") and uri[:-1] in uris


def _has_no_path(client: Application, uri: str, uris: Sequence[str]) -> bool:
    parts = _web(uri)
    return parts is not None and not parts.path and f"{uri}/" not in uris


def _has_upper_case_origin(client: Application, uri: str, uris: Sequence[str]) -> bool:
    parts = _web(uri)
    origin = uri[: len(f"{parts.scheme}://{parts.netloc}")] if parts else ""
    return origin != origin.lower()  # both are case-insensitive (RFC 3986 6.2.2.1), but compared


def _has_default_port(client: Application, uri: str, uris: Sequence[str]) -> bool:
    parts = _web(uri)
    return parts is not None and parts.port == _DEFAULT_PORTS[parts.scheme]


def _has_host_localhost(client: Application, uri: str, uris: Sequence[str]) -> bool:
    parts = _web(uri)
    return parts is not None and parts.hostname == "localhost"


def _has_fixed_localhost_port(client: Application, uri: str, uris: Sequence[str]) -> bool:
    parts = _web(uri)
    return (
        parts is not None
        and client.app_type == "native"
        and not client.allows_any_loopback_port
        and parts.hostname == "localhost"
        and parts.scheme == "http"
    )


def _web(uri: str) -> SplitResult | None:
    """Returns the parsed address if it is an http or https one, otherwise None."""
    parts = urlsplit(uri)
    return parts if parts.scheme in _DEFAULT_PORTS else None


_RULES: Final[dict[str, tuple[Callable[[Application, str, Sequence[str]], bool], str]]] = {
    "open_http": (
        _is_unencrypted,
        "http is not encrypted: others on the network can read what is sent. For development"
        " only.",
    ),
    "twin": (
        _is_registered_without_slash,
        "The same URI without the slash at its end is registered, too: the application sends"
        " one of them.",
    ),
    "no_path": (
        _has_no_path,
        "It has no path, and many libraries add a slash: then https://app.example/ must be"
        " registered, with the slash.",
    ),
    "case": (
        _has_upper_case_origin,
        "Scheme and host are compared exactly, and most libraries write them in lowercase.",
    ),
    "usual_port": (
        _has_default_port,
        "Most libraries leave out the default port: then it is a different URI.",
    ),
    "localhost": (
        _has_host_localhost,
        "localhost, 127.0.0.1 and [::1] are three different hosts: the application must send"
        " this one.",
    ),
    "fixed_port": (
        _has_fixed_localhost_port,
        "The port is compared, too: with loopbackAnyPort, or at 127.0.0.1 or [::1] instead of"
        " localhost, the application may listen on any port (RFC 8252, 7.3 and 8.3).",
    ),
}
