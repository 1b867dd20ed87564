"""What pages of the built site would load from elsewhere: `python -m tests.support.site.requests
FOLDER`.

The site is read from a folder or within closed networks, so a page loads nothing but files of the
site. Links that a reader may follow are no matter of this check. It names what it finds, and ends
with status 1 if there is anything.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

_LOADED = ("src", "srcset", "poster", "data", "background", "xlink:href")
# Of `<link>`: these only name an address, the others load it.
_NAMES_ONLY = {"author", "canonical", "help", "license", "next", "prev", "index", "search"}
_ADDRESS = re.compile(r"\s*((?:[a-z][a-z0-9+.-]*:)?//\S+)", re.IGNORECASE)
_CSS = re.compile(
    r"url\(\s*['\"]?((?:[a-z]+:)?//[^'\")\s]+)|@import\s+['\"]((?:[a-z]+:)?//[^'\"]+)",
    re.IGNORECASE,
)


class _Loads(HTMLParser):
    """Collects the addresses that the elements of a page load."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._in_style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._in_style = tag == "style"
        attributes = {name: value or "" for name, value in attrs}
        for name in (*_LOADED, *(["href"] if self._href_loads(tag, attributes) else [])):
            value = attributes.get(name, "")
            parts = value.split(",") if name == "srcset" else [value]
            self.found += [found[1] for part in parts if (found := _ADDRESS.match(part))]
        self.found += css_addresses(attributes.get("style", ""))

    def handle_data(self, data: str) -> None:
        if self._in_style:
            self.found += css_addresses(data)

    def handle_endtag(self, tag: str) -> None:
        self._in_style = False

    @staticmethod
    def _href_loads(tag: str, attributes: dict[str, str]) -> bool:
        if tag == "link":
            return not set(attributes.get("rel", "").lower().split()) <= _NAMES_ONLY
        return tag in ("image", "use", "base")


def css_addresses(text: str) -> list[str]:
    """The addresses with a host that a stylesheet loads."""
    return [one or other for one, other in _CSS.findall(text)]


def of_page(html: str) -> list[str]:
    """The addresses with a host that a page loads when it is shown."""
    parser = _Loads()
    parser.feed(html)
    return parser.found


def of_site(folder: Path) -> Iterator[str]:
    """Each of them in the built site, with its file."""
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".html", ".css", ".svg"):
            text = path.read_text(encoding="utf-8")
            found = css_addresses(text) if path.suffix == ".css" else of_page(text)
            yield from (f"{path.relative_to(folder)}: {address}" for address in found)


def main(arguments: list[str]) -> int:
    """Prints what the site in a folder would load; returns 1 if that is anything."""
    folder = Path(arguments[0])
    if not (folder / "index.html").exists():
        print(f"{folder}: no site")
        return 1
    found = list(of_site(folder))
    for line in found:
        print(line)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
