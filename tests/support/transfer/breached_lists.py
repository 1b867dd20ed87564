"""Lists of breached passwords."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path


def sha1(password: str) -> str:
    return hashlib.sha1(password.encode(), usedforsecurity=False).hexdigest().upper()


def text_file(path: Path, counts: Mapping[str, int], end: str = "\r\n") -> Path:
    """A sorted file of `SHA1:COUNT` lines."""
    lines = sorted(f"{sha1(password)}:{count}" for password, count in counts.items())
    path.write_text("".join(line + end for line in lines), encoding="ascii", newline="")
    return path
