"""Look-up of a password in a list of breached ones, by its SHA-1 as such lists are published.

A list is a text file, sorted, with a line `SHA1HEX:COUNT` for each password, as the downloader of
Pwned Passwords writes it. It is not loaded but mapped, and a look-up reads a few of its pages.
SHA-1 is only a look-up key here and protects nothing.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import re
from pathlib import Path
from typing import Final

RANGE_DIGITS: Final = 5
_MAX_LINE_BYTES: Final = 64
_SAMPLES: Final = 1000  # places at which the order is checked when a list is opened
_LINE: Final = re.compile(rb"([0-9A-Fa-f]{40}):([0-9]{1,12})")


class UnusableList(ValueError):
    """The list is truncated, out of order or of another form; the text says what is wrong."""


def digest(password: str) -> bytes:
    """Returns the SHA-1 of the password in UTF-8: 20 bytes."""
    return hashlib.sha1(password.encode(), usedforsecurity=False).digest()


class BreachedPasswords:
    """The list at `path`, in which single passwords can be looked up; passwords that were seen
    less than `min_count` times are ignored. Raises UnusableList, OSError.
    """

    def __init__(self, path: Path, min_count: int = 1) -> None:
        if path.is_dir():
            raise UnusableList("it is a directory")
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_size == 0:
                raise UnusableList("it is empty")
            self._mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._min_count = min_count
        self._check()

    def contains(self, password: str) -> bool:
        """Returns whether the list has the password. Reads about 30 places of the largest file, so
        it must not run on the event loop. Raises OSError."""
        target = digest(password).hex().upper().encode()
        low, high = 0, len(self._mapped)
        while low < high:
            start, end = self._line_around((low + high) // 2)
            entry, count = self._read(start, end)
            if entry == target:
                return count >= self._min_count
            low, high = (end + 1, high) if entry < target else (low, start)
        return False

    def _check(self) -> None:
        """Checks that lines throughout the file are well-formed and in order. Raises
        UnusableList."""
        size, previous = len(self._mapped), b""
        for number in range(_SAMPLES + 1):
            start, end = self._line_around(min(size - 1, size * number // _SAMPLES))
            entry, _ = self._read(start, end)
            if entry < previous:
                raise UnusableList(f"it is not sorted at byte {start}")
            previous = entry

    def _line_around(self, position: int) -> tuple[int, int]:
        """The start and end of the line that contains this byte, without its line feed."""
        start = self._mapped.rfind(b"\n", max(0, position - _MAX_LINE_BYTES), position) + 1
        if start == 0 and position > _MAX_LINE_BYTES:
            raise UnusableList(f"it has no line of the form SHA1:COUNT around byte {position}")
        return start, self._line_end(start)

    def _line_end(self, start: int) -> int:
        end = self._mapped.find(b"\n", start, start + _MAX_LINE_BYTES)
        return end if end >= 0 else len(self._mapped)

    def _read(self, start: int, end: int) -> tuple[bytes, int]:
        line = _LINE.fullmatch(
            self._mapped[start : min(end, start + _MAX_LINE_BYTES)].rstrip(b"\r")
        )
        if line is None:
            raise UnusableList(f"it has no line of the form SHA1:COUNT at byte {start}")
        return line[1].upper(), int(line[2])


def count_in_range(text: bytes, suffix: str) -> int:
    """Returns the count that `text`, the lines of a range, has for the hash with this suffix of 35
    hex digits; 0 if it has none.
    """
    match = re.search(rb"(?im)^" + suffix.encode() + rb":([0-9]{1,12})\r?$", text)
    return int(match[1]) if match else 0
