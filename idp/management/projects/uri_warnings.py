"""Warnings about redirect URIs that are allowed but often not what was meant.

A redirect URI is compared with the registered ones character by character (RFC 9700 4.1.3), so
most warnings are about applications that are likely to send a slightly different one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final
from urllib.parse import SplitResult, urlsplit

from idp.clients import redirect_uris
from idp.config.urls import is_loopback
from idp.records import Application
from idp.schema.answers import Answer

_USUAL_PORTS: Final = {"http": 80, "https": 443}


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
        for key, (is_so, text) in _RULES.items()
        if is_so(client, uri, uris)
    ]


def _is_readable(client: Application, uri: str, uris: Sequence[str]) -> bool:
    return redirect_uris.is_open_http(uri)


def _has_a_twin(client: Application, uri: str, uris: Sequence[str]) -> bool:
    return uri.endswith("/") and uri[:-1] in uris


def _has_no_path(client: Application, uri: str, uris: Sequence[str]) -> bool:
    parts = _web(uri)
    return parts is not None and not parts.path and f"{uri}/" not in uris


def _is_spelt_otherwise(client: Application, uri: str, uris: Sequence[str]) -> bool:
    parts = _web(uri)
    place = uri[: len(f"{parts.scheme}://{parts.netloc}")] if parts else ""
    return place != place.lower()  # both are case-insensitive (RFC 3986 6.2.2.1), but compared


def _names_the_usual_port(client: Application, uri: str, uris: Sequence[str]) -> bool:
    parts = _web(uri)
    return parts is not None and parts.port == _USUAL_PORTS[parts.scheme]


def _is_called_localhost(client: Application, uri: str, uris: Sequence[str]) -> bool:
    parts = _web(uri)
    return parts is not None and parts.hostname == "localhost"


def _has_a_fixed_port(client: Application, uri: str, uris: Sequence[str]) -> bool:
    parts = _web(uri)
    return (
        parts is not None
        and client.app_type == "native"
        and not client.allows_any_loopback_port
        and is_loopback(parts.hostname or "")
        and parts.scheme == "http"
    )


def _web(uri: str) -> SplitResult | None:
    """Returns the parsed address if it is an http or https one, otherwise None."""
    parts = urlsplit(uri)
    return parts if parts.scheme in _USUAL_PORTS else None


_RULES: Final[dict[str, tuple[Callable[[Application, str, Sequence[str]], bool], str]]] = {
    "open_http": (
        _is_readable,
        "Whoever is between the browser and this address can read what is sent there: for"
        " development only.",
    ),
    "twin": (
        _has_a_twin,
        "The same address without the slash at its end is registered, too: the application sends"
        " one of them.",
    ),
    "no_path": (
        _has_no_path,
        "It has no path, and many libraries add a slash: then https://app.example/ has to be"
        " registered, with the slash.",
    ),
    "case": (
        _is_spelt_otherwise,
        "Scheme and host are compared as they are written, and most libraries write them in lower"
        " case.",
    ),
    "usual_port": (
        _names_the_usual_port,
        "Most libraries leave out the usual port: then it is another address.",
    ),
    "localhost": (
        _is_called_localhost,
        "localhost, 127.0.0.1 and [::1] are three addresses: the application has to send this one."
        " Native applications better use 127.0.0.1 and [::1] (RFC 8252, 8.3).",
    ),
    "fixed_port": (
        _has_a_fixed_port,
        "The port is compared, too: with loopbackAnyPort the application may listen on any.",
    ),
}
