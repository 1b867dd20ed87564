"""Integration guides: one Markdown page for each preset, and their index."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from idp.clients.presets import all_presets
from tests.support.guides import (
    devices,
    django,
    flask,
    frameworks,
    libraries,
    page,
    products,
)
from tests.support.guides.guide import Guide

GUIDES: Final[Mapping[str, Guide]] = (
    flask.GUIDES
    | django.GUIDES
    | frameworks.GUIDES
    | libraries.GUIDES
    | products.GUIDES
    | devices.GUIDES
)
files: Final = page.files
INDEX: Final = "README.md"


def pages() -> dict[str, str]:
    """Returns the text of each page by its file name."""
    guides = {name: GUIDES[name] for name in all_presets()}
    texts = {f"{name}.md": page.text(name, guide) for name, guide in guides.items()}
    return {INDEX: page.index(guides)} | texts
