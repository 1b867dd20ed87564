"""Finding rows of one list that describe the same record, in constant memory.

For each row a 64-bit hash of the record's identity is stored on disk. Equal hashes are then
searched for in partitions that fit into memory.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Hashable, Iterator
from itertools import repeat
from pathlib import Path
from typing import BinaryIO, Final, Literal

_PARTITION_HASHES: Final = 250_000  # hashes per partition; about 20 MB
_AT_ONCE: Final = 8192  # hashes per read or write
_UNKNOWN: Final = 0
_NUMBER_BYTES: Final = array("q").itemsize


class Duplicates:
    """A finder of the rows of one list that describe the same record as an earlier row.

    `path` names a file for the hashes of the rows, which does not exist yet.
    """

    def __init__(self, path: Path) -> None:
        self._numbers = path
        self._firsts = path.with_suffix(".firsts")
        self._new = array("q")
        self._count = 0
        self._has_identities = self._has_duplicates = False

    def add(self, record: Hashable | None) -> None:
        """Adds the next row of the list. `record` identifies the record that it describes; None if
        that is unknown.
        """
        self._new.append(_UNKNOWN if record is None else hash(record))
        self._count += 1
        self._has_identities |= record is not None
        if len(self._new) == _AT_ONCE:
            self._write()

    def find(self) -> None:
        """Finds the duplicates, once all rows are added. Raises OSError."""
        self._write()
        partitions = self._count // _PARTITION_HASHES + 1
        with _private(self._firsts, "wb") as file:
            # A list without identities needs no pass over its file.
            for partition in range(partitions) if self._has_identities else ():
                self._find_in_partition(partition, partitions, file)
        self._numbers.unlink()
        if not self._has_duplicates:
            self._firsts.unlink()

    def firsts(self, skip: int) -> Iterator[int | None]:
        """Yields, for each row after the first `skip`, the index of the first row of the same
        record, or None if no earlier row describes its record. The iterator is endless.
        """
        if self._has_duplicates:
            for place in _read(self._firsts, skip):
                yield place - 1 if place else None
        yield from repeat(None)

    def _write(self) -> None:
        with _private(self._numbers, "ab") as file:
            self._new.tofile(file)
        del self._new[:]

    def _find_in_partition(self, partition: int, partitions: int, file: BinaryIO) -> None:
        firsts: dict[int, int] = {}
        for place, number in enumerate(_read(self._numbers)):
            if number % partitions == partition and number != _UNKNOWN:
                first = firsts.setdefault(number, place)
                if first != place:
                    self._has_duplicates = True
                    # Sparse: the index is written at the row's own offset, one higher, so that a
                    # hole reads as 0 and means none.
                    file.seek(place * _NUMBER_BYTES)
                    array("q", [first + 1]).tofile(file)


def _private(path: Path, mode: Literal["wb", "ab"]) -> BinaryIO:
    """Opens a file for writing that only its owner can read."""
    return open(path, mode, opener=lambda name, flags: os.open(name, flags, 0o600))


def _read(path: Path, skip: int = 0) -> Iterator[int]:
    with path.open("rb") as file:
        file.seek(skip * _NUMBER_BYTES)
        while data := file.read(_AT_ONCE * _NUMBER_BYTES):
            yield from array("q", data)
