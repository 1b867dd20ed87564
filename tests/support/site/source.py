"""The text of a page as the site shows it.

The pages in docs/ are written to be read as they are, in an editor or where the repository is
hosted. Two things differ on the site, which is a folder without the repository around it:

* A page with `<!-- site: shows FILE -->` is replaced by that file of the repository.
* A link to a file outside of docs/ leads to the page that shows the file. If there is none, its
  words are left without a link.
"""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"

_MOVED = re.compile(r"Moved to \[([^\]]+)\]\([^)]+\)\.\n")
_SHOWS = re.compile(r"^<!-- site: shows (\S+) -->$", re.MULTILINE)
# Code is passed over: it is found first, and has no groups.
_CODE_OR_LINK = re.compile(
    r"^(?P<fence>```+|~~~+).*?^(?P=fence)\s*$"
    r"|(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`)"
    r"|(?P<image>!?)\[(?P<words>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<address>[^)\s]+)\)",
    re.MULTILINE | re.DOTALL,
)
_CODE_WORDS = re.compile(r"(!?\[)(`[^`]*`)(\]\()")
_ELSEWHERE = re.compile(r"[a-z]+:|#")


def moved() -> list[str]:
    """The pages, by their paths in docs/, that say only where the page is now."""
    pages = DOCS.rglob("*.md")
    found = [page for page in pages if _MOVED.fullmatch(page.read_text(encoding="utf-8"))]
    return sorted(str(page.relative_to(DOCS)) for page in found)


def prepare(page: str, text: list[str]) -> None:
    """Replaces `text`, the one text of the page that is named `page` in docs/."""
    path = DOCS / f"{page}.md"
    if shown := _SHOWS.search(text[0]):
        origin = ROOT / shown[1]
        text[0] = origin.read_text(encoding="utf-8")
    else:
        origin = path
    text[0] = with_links(text[0], origin, path)


def with_links(text: str, origin: Path, path: Path) -> str:
    """`text` with the links that hold in the file `origin` changed to those of the page `path`."""
    return _CODE_OR_LINK.sub(lambda found: _changed(found, origin, path), text)


def _changed(found: re.Match[str], origin: Path, path: Path) -> str:
    address = found["address"]
    if address is None or _ELSEWHERE.match(address):
        return found[0]
    name, mark, anchor = address.partition("#")
    target = Path(os.path.normpath(origin.parent / name))
    target = shown_by().get(target, target)
    if not target.is_relative_to(DOCS) or target.is_dir():
        return found["words"]
    leads = os.path.relpath(target, path.parent)
    return f"{found['image']}[{found['words']}]({leads}{mark}{anchor})"


@cache
def shown_by() -> dict[Path, Path]:
    """The pages that show a file of the repository, by that file."""
    pages = {page: _SHOWS.search(page.read_text(encoding="utf-8")) for page in DOCS.rglob("*.md")}
    return {ROOT / found[1]: page for page, found in pages.items() if found}
