"""Folders of temporary files of transfers."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path


def nothing_left() -> bool:
    return not list(Path(tempfile.gettempdir()).glob("idp-scratch-*"))


async def all_removed() -> None:
    """Returns when no such folder exists."""
    while not nothing_left():
        await asyncio.sleep(0.01)
