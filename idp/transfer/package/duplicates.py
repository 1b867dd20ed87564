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
_CHUNK_HASHES: Final = 8192  # hashes per read or write
_NO_IDENTITY: Final = 0
_NUMBER_BYTES: Final = array("q").itemsize


class Duplicates:
    """A finder of the rows of one list that describe the same record as an earlier row.

    `path` names a file for the hashes of the rows, which does not exist yet.
    """

    def __init__(self, path: Path) -> None:
        self._hashes_path = path
        self._first_rows_path = path.with_suffix(".firsts")
        self._pending_hashes = array("q")
        self._count = 0
        self._has_identities = self._has_duplicates = False

    def add(self, record: Hashable | None) -> None:
        """Adds the next row of the list. `record` identifies the record that it describes; None if
        that is unknown.
        """
        self._pending_hashes.append(_NO_IDENTITY if record is None else hash(record))
        self._count += 1
        self._has_identities |= record is not None
        if len(self._pending_hashes) == _CHUNK_HASHES:
            self._write()

    def find(self) -> None:
        """Finds the duplicates, once all rows are added. Raises OSError."""
        self._write()
        partitions = self._count // _PARTITION_HASHES + 1
        with _open_private(self._first_rows_path, "wb") as file:
            # A list without identities needs no pass over its file.
            for partition in range(partitions) if self._has_identities else ():
                self._find_in_partition(partition, partitions, file)
        self._hashes_path.unlink()
        if not self._has_duplicates:
            self._first_rows_path.unlink()

    def first_rows(self, skip: int) -> Iterator[int | None]:
        """Yields, for each row after the first `skip`, the index of the first row of the same
        record, or None if no earlier row describes its record. The iterator is endless.
        """
        if self._has_duplicates:
            for position in _read(self._first_rows_path, skip):
                yield position - 1 if position else None
        yield from repeat(None)

    def _write(self) -> None:
        with _open_private(self._hashes_path, "ab") as file:
            self._pending_hashes.tofile(file)
        del self._pending_hashes[:]

    def _find_in_partition(self, partition: int, partitions: int, file: BinaryIO) -> None:
        first_positions: dict[int, int] = {}
        for position, number in enumerate(_read(self._hashes_path)):
            if number % partitions == partition and number != _NO_IDENTITY:
                first = first_positions.setdefault(number, position)
                if first != position:
                    self._has_duplicates = True
                    # Sparse: the index is written at the row's own offset, one higher, so that a
                    # missing entry reads as 0 and means none.
                    file.seek(position * _NUMBER_BYTES)
                    array("q", [first + 1]).tofile(file)


def _open_private(path: Path, mode: Literal["wb", "ab"]) -> BinaryIO:
    """Opens a file for writing that only its owner can read."""
    return open(path, mode, opener=lambda name, flags: os.open(name, flags, 0o600))


def _read(path: Path, skip: int = 0) -> Iterator[int]:
    with path.open("rb") as file:
        file.seek(skip * _NUMBER_BYTES)
        while data := file.read(_CHUNK_HASHES * _NUMBER_BYTES):
            yield from array("q", data)
