"""The rules for the registration of redirect URIs (RFC 6749 3.1.2, RFC 8252, RFC 9700 2.1).

A request's value is compared with the registered one byte by byte, so nothing is normalized
here: a URI that browsers read differently than it is written is refused, with the reason.
"""

from __future__ import annotations

import re
from ipaddress import AddressValueError, IPv6Address
from typing import Final

from msgspec import Struct

from idp.config.urls import is_loopback
from idp.records import AppType
from idp.schema.field_rules import FieldRefused, Schema, Text, wrong_type

MAX_CHARACTERS: Final = 2048
# Schemes that make a browser run or show what the URI itself contains, or a local file.
_DANGEROUS: Final = frozenset(
    {"javascript", "data", "vbscript", "file", "blob", "about", "filesystem", "view-source"}
)
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_ALLOWED: Final = re.compile(r"(?:[A-Za-z0-9._~:/?\[\]@!$&'()+,;=-]|%[0-9A-Fa-f]{2})*")
# Browsers resolve such segments, also percent-encoded ones, before they send the request.
_DOTS: Final = re.compile(r"/(?:\.|%2e){1,2}(?=[/?]|$)", re.IGNORECASE)
_WEB: Final = re.compile(
    r"https?://(?P<host>[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::(?P<port>[0-9]{1,5}))?"
    r"(?:/[^?]*)?(?:\?.*)?",
    re.IGNORECASE,
)
_ORIGIN: Final = re.compile(
    r"(?P<scheme>[a-z][a-z0-9+.-]*)://"
    r"(?P<host>[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::(?P<port>[1-9][0-9]{0,4}))?"
)
_DEFAULT_PORTS: Final = {"http": "80", "https": "443"}


class RedirectUri(Struct, frozen=True):
    """A field rule that accepts an absolute URI without fragment, wildcard or dangerous scheme.

    Whether an application of some type may register the URI is decided by `check`.
    """

    def read(self, value: object) -> str:
        if not isinstance(value, str):
            raise wrong_type("a string")
        _check_characters(value)
        if _scheme(value) in ("http", "https"):
            _host(value)
        return value

    def schema(self) -> Schema:
        uri = Text(1, MAX_CHARACTERS, is_free=True).schema()
        return uri | {"examples": ["https://app.example/cb"]}


class Origin(Struct, frozen=True):
    """A field rule that accepts a web origin in the form in which browsers send it (RFC 6454
    6.2)."""

    def read(self, value: object) -> str:
        uri = RedirectUri().read(value)
        match = _ORIGIN.fullmatch(uri)
        if match is None or not _is_serialised(match["scheme"], match["host"], match["port"]):
            text = "must be an origin as browsers send it, such as https://app.example"
            raise FieldRefused("origin.form", text)
        return uri

    def schema(self) -> Schema:
        return RedirectUri().schema() | {"examples": ["https://app.example"]}


class WebAddress(Struct, frozen=True):
    """A field rule that accepts the http or https address of a page, or an empty text."""

    def read(self, value: object) -> str:
        address = RedirectUri().read(value) if value else Text().read(value)
        if address and _scheme(address) not in ("http", "https"):
            raise FieldRefused("field.address", "must begin with https:// or http://")
        return address

    def schema(self) -> Schema:
        address = Text(max=MAX_CHARACTERS, is_free=True).schema()
        return address | {"examples": ["https://app.example/"]}


def check(uri: str, app_type: AppType, *, is_dev_mode: bool) -> None:
    """Checks that an application of this type may register the URI. Raises FieldRefused.

    Schemes other than http and https are for native applications, and http to another machine is
    for the development mode, `is_dev_mode`.
    """
    scheme = _scheme(uri)
    if scheme not in ("http", "https"):
        if app_type != "native":
            text = "must use https; schemes of their own are for native apps"
            raise FieldRefused("redirect_uri.scheme", text)
    elif is_unencrypted_http(uri) and not is_dev_mode:
        text = "must use https, unless it leads to the person's own machine or in devMode"
        raise FieldRefused("redirect_uri.http", text)


def is_unencrypted_http(uri: str) -> bool:
    """Returns whether data that is sent to the URI crosses a network unencrypted: it is http, and
    not to the local machine."""
    return _scheme(uri) == "http" and not is_loopback(_host(uri))


def _scheme(uri: str) -> str:
    match = _SCHEME.match(uri)
    if match is None:
        raise FieldRefused(
            "redirect_uri.relative", "must be absolute, such as https://app.example/cb"
        )
    scheme = match[1].lower()
    if scheme in _DANGEROUS:
        raise FieldRefused("redirect_uri.scheme", f"must not use the scheme {scheme}")
    return scheme


def _host(uri: str) -> str:
    """Returns the host of a web address, in lower case and without brackets.

    Raises FieldRefused.
    """
    match = _WEB.fullmatch(uri)
    host = match["host"].lower() if match else ""
    has_valid_port = match is not None and int(match["port"] or 443) in range(1, 65536)
    if not has_valid_port or not (_is_ipv6(host[1:-1]) if host.startswith("[") else host):
        raise FieldRefused(
            "redirect_uri.host", "must have a host, a port that exists and no user name"
        )
    return host.strip("[]")


def _is_serialised(scheme: str, host: str, port: str | None) -> bool:
    """Returns whether browsers write the origin like this: without the default port, and with
    an IPv6 address in its short form."""
    if port is not None and (port == _DEFAULT_PORTS.get(scheme) or int(port) > 65535):
        return False
    return not host.startswith("[") or (
        _is_ipv6(host[1:-1]) and str(IPv6Address(host[1:-1])) == host[1:-1]
    )


def _check_characters(uri: str) -> None:
    if len(uri) > MAX_CHARACTERS:
        raise FieldRefused(
            "field.too_long", f"has more than {MAX_CHARACTERS} characters", MAX_CHARACTERS
        )
    if not uri:
        raise FieldRefused("field.empty", "must not be empty")
    if "#" in uri:
        raise FieldRefused("redirect_uri.fragment", "must not have a fragment (#)")
    if "*" in uri:
        raise FieldRefused("redirect_uri.wildcard", "must not have a wildcard (*)")
    if not _ALLOWED.fullmatch(uri):
        raise FieldRefused(
            "redirect_uri.characters",
            "holds a character that no URI has; other alphabets are percent-encoded, "
            "in host names punycode",
        )
    if _DOTS.search(uri.partition("?")[0]):
        raise FieldRefused("redirect_uri.dots", "must not have a path with . or ..")


def _is_ipv6(host: str) -> bool:
    try:
        IPv6Address(host)
    except AddressValueError:
        return False
    return True
