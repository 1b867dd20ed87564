"""Rows that tell of a record of which an earlier row of their list has told, in constant memory.

Of each row a number is kept on disk that those of one record have in common; equal ones are looked
for in parts that can be held.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Hashable, Iterator
from itertools import repeat
from pathlib import Path
from typing import BinaryIO, Final, Literal

_HELD: Final = 250_000  # numbers at once; some 20 MB
_AT_ONCE: Final = 8192  # that are read or written in one piece
_UNKNOWN: Final = 0
_OCTETS: Final = array("q").itemsize


class Doubles:
    """The rows of one list; `path` is that of a file that is not there yet."""

    def __init__(self, path: Path) -> None:
        self._numbers = path
        self._firsts = path.with_suffix(".firsts")
        self._new = array("q")
        self._count = 0
        self._are_any_known = self._are_there = False

    def add(self, record: Hashable | None) -> None:
        """The next row, by what tells its record apart, if that is known."""
        self._new.append(_UNKNOWN if record is None else hash(record))
        self._count += 1
        self._are_any_known |= record is not None
        if len(self._new) == _AT_ONCE:
            self._write()

    def find(self) -> None:
        """Look for them, when there are no more rows. Raises OSError."""
        self._write()
        parts = self._count // _HELD + 1
        with _private(self._firsts, "wb") as file:
            for part in range(parts) if self._are_any_known else ():
                self._look(part, parts, file)
        self._numbers.unlink()
        if not self._are_there:
            self._firsts.unlink()

    def firsts(self, skip: int) -> Iterator[int | None]:
        """For each row behind the first `skip` the place of the first one of its record, if that
        is another one; without an end."""
        if self._are_there:
            for place in _read(self._firsts, skip):
                yield place - 1 if place else None
        yield from repeat(None)

    def _write(self) -> None:
        with _private(self._numbers, "ab") as file:
            self._new.tofile(file)
        del self._new[:]

    def _look(self, part: int, parts: int, file: BinaryIO) -> None:
        firsts: dict[int, int] = {}
        for place, number in enumerate(_read(self._numbers)):
            if number % parts == part and number != _UNKNOWN:
                first = firsts.setdefault(number, place)
                if first != place:
                    self._are_there = True
                    file.seek(place * _OCTETS)
                    array("q", [first + 1]).tofile(file)


def _private(path: Path, mode: Literal["wb", "ab"]) -> BinaryIO:
    """A file to write into that nobody else may read."""
    return open(path, mode, opener=lambda name, flags: os.open(name, flags, 0o600))


def _read(path: Path, skip: int = 0) -> Iterator[int]:
    with path.open("rb") as file:
        file.seek(skip * _OCTETS)
        while octets := file.read(_AT_ONCE * _OCTETS):
            yield from array("q", octets)
