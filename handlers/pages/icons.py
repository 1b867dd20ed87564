"""Icons, written into the pages: a file of its own for them is blocked by some browsers under the
Content-Security-Policy of the pages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Final

from idp.records.connections import ProviderConnection

# Icons that point in the direction of reading.
_MIRRORED: Final = frozenset({"arrow-left", "arrow-right", "chevron-right", "log-out", "undo-2"})
# The marks of other identity providers, by the kind of a connection or its preset.
_PROVIDERS: Final[Mapping[str, str]] = {
    "google": "brand-google",
    "gitlab": "brand-gitlab",
    "gitlab_self_hosted": "brand-gitlab",
    "keycloak": "brand-keycloak",
    "okta": "brand-okta",
}
_DRAWING: Final = re.compile(r"<svg[^>]*>(.*)</svg>", re.DOTALL)
_SVG: Final = (
    # Its colour and stroke are set in components.css.
    '<svg class="icon" aria-hidden="true"{} width="20" height="20" viewBox="0 0 24 24">{}</svg>'
)


@cache
def drawing(name: str) -> str:
    """Returns the SVG element of the icon `templates/static/icons/<name>.svg`, in the colour of
    the text and hidden from screen readers.

    Raises FileNotFoundError if there is none.
    """
    file = resources.files("templates").joinpath("static", "icons", f"{name}.svg")
    match = _DRAWING.search(file.read_text(encoding="utf-8"))
    if match is None:
        raise ValueError(f"{name}.svg contains no drawing")
    lines = re.sub(r"\s*\n\s*", "", match[1]).replace(" />", "/>")
    return _SVG.format(" data-mirrored" if name in _MIRRORED else "", lines)


def of_provider(kind: str) -> str:
    """Returns the name of the icon for providers of a connection kind or preset: their mark, or
    that of any company."""
    return _PROVIDERS.get(kind, "building-2")


def of_connection(connection: ProviderConnection) -> str:
    """Returns the name of the icon for the provider of a connection."""
    return of_provider(getattr(connection.settings, "preset", "") or connection.kind)
