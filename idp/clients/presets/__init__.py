"""Presets: the settings that known tools are registered with, and the configuration of the
tools."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final
from urllib.parse import quote, urlsplit

from idp.clients.presets import preset as preset_tables
from idp.clients.presets.preset import Kind, Preset
from idp.clients.wire_names import APP_TYPES
from idp.config.urls import is_loopback
from idp.foundation.errors import FieldProblem, InvalidArgument, NotFound
from idp.oauth import paths

_PLACEHOLDER: Final = re.compile(r"<([a-z_]+)>")
_ADDRESS: Final = re.compile(
    r"(?P<scheme>https?://)?(?P<name>[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?"
    r"(?:/[A-Za-z0-9._~/-]*)?"
)
_DEFAULT_PORT: Final = 3000  # behind a proxy that ends TLS
_APP_TYPES: Final = {kind: name for name, kind in APP_TYPES.items()}


@cache
def all_presets() -> Mapping[str, Preset]:
    """Returns every preset by its name."""
    return dict(preset_tables.read())


def find(name: str) -> Preset:
    """Returns the preset of this name. Raises NotFound."""
    preset = all_presets().get(name)
    if preset is None:
        raise NotFound(
            "there is no such preset: idp preset list lists them", error_code="preset.not_found"
        )
    return preset


def of_kind(kind: Kind) -> dict[str, Preset]:
    """Returns the presets for an application of this kind, by their names."""
    return {name: preset for name, preset in all_presets().items() if preset.kind == kind}


def expand(name: str, host: str) -> dict[str, Any]:
    """Returns the request body, without the application's name, that registers the tool of a
    preset.

    It is a body for `…/apps/api` if the kind of the preset is `api`, and otherwise for
    `…/apps/oidc`. `host` is the host name of the tool, with a port if it has one, or the address
    of its first page. Raises NotFound, and InvalidArgument for the host.
    """
    preset = find(name)
    if preset.kind == "api":
        return {}
    uris = {
        "redirectUris": _with_host(preset.redirect_uris, host),
        "postLogoutRedirectUris": _with_host(preset.post_logout_redirect_uris, host),
        "backChannelLogoutUri": "".join(_with_host([preset.back_channel_logout_uri], host)),
    }
    uri_settings = {field: value for field, value in uris.items() if value}
    chosen = {field: choice.value for field, choice in preset.chosen.items()}
    settings = {"appType": _APP_TYPES[preset.kind]} | uri_settings | chosen
    return settings | {"requirePkce": preset.pkce}


def configuration(name: str, issuer: str, client_id: str, host: str) -> str:
    """Returns the text of the tool's configuration file, with `CLIENT_SECRET` in the place of its
    secret.

    `name` is that of the preset, and `host` is the tool's host name or address, as in `expand`.
    Raises NotFound, and InvalidArgument for the host.
    """
    values = {
        "issuer": issuer,
        "client_id": client_id,
        "base": _base(host),
        "port": _port(host),
        "base_quoted": quote(_base(host), safe=""),
        "app": _scheme(host),
        "is_https": str(_base(host).startswith("https:")).lower(),
        "authorize": issuer + paths.AUTHORIZE,
        "token": issuer + paths.TOKEN,
        "userinfo": issuer + paths.USERINFO,
        "keys": issuer + paths.KEYS,
        "introspect": issuer + paths.INTROSPECT,
        "end_session": issuer + paths.END_SESSION,
        "device_authorization": issuer + paths.DEVICE_AUTHORIZATION,
    }
    return _PLACEHOLDER.sub(lambda match: values[match[1]], find(name).configuration)


def _with_host(patterns: Sequence[str], host: str) -> list[str]:
    return [
        each.replace("{base}", _base(host)).replace("{app}", _scheme(host)) for each in patterns
    ]


def _base(host: str) -> str:
    """Returns the address of the tool without a slash at its end.

    Without a scheme it is https, and http on loopback. Raises InvalidArgument.
    """
    match = _ADDRESS.fullmatch(host)
    if match is None:
        problem = "must be a host name, such as app.example, or the address of the first page"
        raise InvalidArgument([FieldProblem("preset.host", "host", problem)])
    scheme = "http" if is_loopback(match["name"].strip("[]")) else "https"
    return host.rstrip("/") if match["scheme"] else f"{scheme}://{host.rstrip('/')}"


def _port(host: str) -> str:
    """Returns the port that the tool's own program listens on: that of its address, or 3000."""
    return str(urlsplit(_base(host)).port or _DEFAULT_PORT)


def _scheme(host: str) -> str:
    """Returns the private scheme of a native application: its host name reversed (RFC 8252
    7.1)."""
    match = _ADDRESS.fullmatch(host)
    return ".".join(reversed(match["name"].split("."))) if match else ""
