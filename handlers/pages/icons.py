"""Icons, written into the pages: a file of its own for them is blocked by some browsers under the
Content-Security-Policy of the pages."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from typing import Final

# Icons that point in the direction of reading.
_MIRRORED: Final = frozenset({"arrow-left", "arrow-right", "chevron-right", "log-out", "undo-2"})
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
