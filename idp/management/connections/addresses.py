"""Checks of the addresses in the settings of connections: this service will call them, so they
must not lead into closed networks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import urlsplit

from idp.config.settings import Config
from idp.foundation.errors import FieldProblem
from idp.outgoing import http
from idp.outgoing.failures import Failed
from idp.records.connections import (
    ConnectionSettings,
    GenericOidcSettings,
    GitlabSelfHostedSettings,
)


class FieldAddress(NamedTuple):
    """An address in the settings of a connection, and the JSON path of its field."""

    field: str
    url: str


def addresses_of(settings: ConnectionSettings) -> list[FieldAddress]:
    """Returns the addresses in the settings that this service calls or sends browsers to."""
    return [each for each in _of(settings) if each.url]


def _of(settings: ConnectionSettings) -> Iterator[FieldAddress]:
    match settings:
        case GenericOidcSettings():
            field = {"keycloak": "baseUrl", "okta": "domain"}.get(settings.preset, "issuer")
            yield FieldAddress(field, settings.issuer)
            yield FieldAddress("authorizationEndpoint", settings.authorization_endpoint)
            yield FieldAddress("tokenEndpoint", settings.token_endpoint)
            yield FieldAddress("userinfoEndpoint", settings.userinfo_endpoint)
            yield FieldAddress("jwksUri", settings.jwks_uri)
        case GitlabSelfHostedSettings():
            yield FieldAddress("issuer", settings.issuer)


def problems(config: Config, settings: ConnectionSettings) -> Iterator[FieldProblem]:
    """Yields a problem for each address that may not be called: it is not encrypted, has an
    unusual port, or belongs to a closed network.

    The addresses of a name are checked at each call.
    """
    for each in addresses_of(settings):
        if message := _problem(config, each.url):
            yield FieldProblem("connection.address", each.field, message)


def _problem(config: Config, url: str) -> str:
    """Returns why an address may not be called, as the end of a sentence; empty if it may."""
    scheme = urlsplit(url).scheme
    if scheme == "http" and not config.is_loopback:
        return "is not encrypted: it must begin with https://"
    try:
        http.check_registered(config, url)
    except Failed as error:
        return f"can't be used: {error}"
    return ""
