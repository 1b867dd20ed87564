"""Words for a browser, by what it says of itself (RFC 9110 10.1.5).

Nothing of the header is kept: what it names is looked up in these lists, and else not known.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

_MAX_CHARACTERS: Final = 1000

# The first mark that is there counts: most browsers call themselves by the names of others, too.
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
    """What a browser is, and what it runs on."""

    browser: str | None
    system: str | None


def read(user_agent: str | None) -> BrowserKind:
    """What is known of a browser with this header."""
    text = (user_agent or "")[:_MAX_CHARACTERS]
    return BrowserKind(_first(_BROWSERS, text), _first(_SYSTEMS, text))


def _first(marks: Sequence[tuple[str, str]], text: str) -> str | None:
    return next((name for mark, name in marks if mark in text), None)
