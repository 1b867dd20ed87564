"""Lists of breached passwords in the three forms that the service reads."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from idp.passwords.breached import open_list
from idp.passwords.compaction import compact


def sha1(password: str) -> str:
    return hashlib.sha1(password.encode(), usedforsecurity=False).hexdigest().upper()


def text_file(path: Path, counts: Mapping[str, int], end: str = "\r\n") -> Path:
    """A sorted file of `SHA1:COUNT` lines."""
    lines = sorted(f"{sha1(password)}:{count}" for password, count in counts.items())
    path.write_text("".join(line + end for line in lines), encoding="ascii", newline="")
    return path


def directory(path: Path, counts: Mapping[str, int], suffix: str = ".txt") -> Path:
    """A directory of range files."""
    path.mkdir()
    ranges: dict[str, list[str]] = {}
    for password, count in counts.items():
        found = sha1(password)
        ranges.setdefault(found[:5], []).append(f"{found[5:]}:{count}")
    for name, lines in ranges.items():
        (path / f"{name}{suffix}").write_text("\r\n".join(lines), encoding="ascii", newline="")
    return path


def compact_file(path: Path, source: Path, min_count: int = 1) -> Path:
    compact(open_list(source, min_count).entries(), path, "draft")
    return path
