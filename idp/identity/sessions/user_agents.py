"""Names of browser and operating system, from the User-Agent header (RFC 9110 10.1.5).

Only names from these lists are stored, and nothing else of the header.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

_MAX_CHARACTERS: Final = 1000

# The first product token that occurs decides: most browsers also contain the names of others.
_BROWSERS: Final = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Vivaldi/", "Vivaldi"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("CriOS/", "Chrome"),
    ("Safari/", "Safari"),
)
_SYSTEMS: Final = (
    ("Windows", "Windows"),
    ("Android", "Android"),
    ("iPhone", "iOS"),
    ("iPad", "iPadOS"),
    ("Macintosh", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
)


class BrowserKind(Struct, frozen=True):
    """The names of a browser and of its operating system; None where they are not known."""

    browser: str | None
    system: str | None


def read(user_agent: str | None) -> BrowserKind:
    """Returns the names of browser and operating system in a User-Agent header (None: no
    header)."""
    text = (user_agent or "")[:_MAX_CHARACTERS]
    return BrowserKind(_first(_BROWSERS, text), _first(_SYSTEMS, text))


def _first(products: Sequence[tuple[str, str]], text: str) -> str | None:
    return next((name for product, name in products if product in text), None)
