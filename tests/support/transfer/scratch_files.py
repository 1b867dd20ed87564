"""Folders of temporary files of transfers."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.support.patience import until


def nothing_left() -> bool:
    return not list(Path(tempfile.gettempdir()).glob("idp-scratch-*"))


async def all_removed() -> None:
    """Returns when no such folder exists."""
    await until(nothing_left)
