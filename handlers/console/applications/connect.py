"""The tab of an application with what its configuration needs, and the file of a known tool."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import urlsplit

from handlers.console.applications.actions import PAGE_PATH
from handlers.console.base import ConsoleHandler
from handlers.console.sections import CONSOLE
from handlers.forms import cells
from handlers.forms.cells import cell, sub_list
from handlers.forms.run_operation import Document
from idp.clients import presets
from idp.clients.wire_names import APP_TYPES
from idp.foundation.i18n import message
from idp.management.projects import read_presets
from idp.oauth import paths

_TITLE: Final = message("How to connect", context="applications")
_NAME: Final = message("Name", context="console")
_VALUE: Final = message("Value", context="policies")
_TOOLS: Final = message("Configuration of a tool", context="applications")


def parts(page: ConsoleHandler, ids: tuple[str, ...], app: Document) -> list[dict[str, Any]]:
    """Returns the template values of the addresses and the client ID that every client needs, and
    of the tools whose configuration can be displayed."""
    issuer = page.service.config.issuer
    values = (
        (message("Issuer", context="applications"), issuer),
        (message("Client ID", context="console"), app["id"]),
        (message("Discovery document", context="applications"), issuer + paths.DISCOVERY),
    )
    rows = [[cells.text(label), cells.code(value)] for label, value in values]
    return [
        sub_list(_TITLE, [_NAME, _VALUE], rows, _TITLE),
        sub_list(_TOOLS, [_NAME], _tool_links(page, ids, app), _TOOLS),
        *_configuration(page, app),
    ]


def _tool_links(
    page: ConsoleHandler, ids: tuple[str, ...], app: Document
) -> list[list[dict[str, object]]]:
    kind = APP_TYPES.get(app["oidcConfig"].get("appType", ""), "web")
    links = [
        (preset.title, page.url_of(f"{CONSOLE}{PAGE_PATH}/connect", *ids, preset=name), None)
        for name, preset in presets.of_kind(kind).items()
    ]
    return [[cell(links, "links")]]


def _configuration(page: ConsoleHandler, app: Document) -> list[dict[str, Any]]:
    """Returns the configuration file of the tool that the address names, if it names one."""
    name = page.query_params().if_once("preset") or ""
    preset = presets.all_presets().get(name)
    if preset is None:
        return []
    redirect_uris = app["oidcConfig"].get("redirectUris", [])
    host = next((each for each in map(_host, redirect_uris) if each), read_presets.HOST)
    text = presets.configuration(name, page.service.config.issuer, app["id"], host)
    title = message("Configuration for %(file)s", context="registered", file=preset.file)
    return [{**sub_list(title, [], [], title), "listing": text}]


def _host(redirect_uri: str) -> str:
    return urlsplit(redirect_uri).netloc
