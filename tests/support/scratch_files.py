"""Folders of temporary files that transfers leave behind, or do not."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path


def nothing_left() -> bool:
    return not list(Path(tempfile.gettempdir()).glob("idp-scratch-*"))


async def all_removed() -> None:
    """Return once no such folder is left."""
    while not nothing_left():
        await asyncio.sleep(0.01)
