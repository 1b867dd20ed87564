"""The rows of a package between reading and storing: on disk, by kind, in the package's order."""

from __future__ import annotations

import os
from array import array
from collections.abc import Hashable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO, Final

import msgspec
from msgspec import Struct

from idp.transfer.package.duplicates import Duplicates
from idp.transfer.package.rows import RowProblem

WHOLE_ORGANIZATION: Final = -1
MAX_BATCH_BYTES: Final = 4 * 1024 * 1024
_ROWS_PER_OFFSET: Final = 1000
_BUFFER_BYTES: Final = 64 * 1024


class SpooledRow(Struct, frozen=True, array_like=True):
    """A row in the form in which it is written to a row file, without the kind, which is the same
    for the whole file.

    `organization` is the index of its organization. `index` is its index in the list; None where
    there is no list, WHOLE_ORGANIZATION for the organization as a whole.
    """

    organization: int
    index: int | None
    document: object = None
    broken: tuple[RowProblem, ...] = ()


_ENCODER: Final = msgspec.json.Encoder()
_DECODER: Final = msgspec.json.Decoder(SpooledRow)


class RowFile:
    """The file of the rows of one kind, one JSON line each.

    The offset of every thousandth line is in memory.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offsets = array("Q")
        self._duplicates = Duplicates(path.with_suffix(".records"))
        self._size = 0
        self.count = 0

    def open(self) -> BinaryIO:
        """Creates the file, readable only by its owner, and returns it open for writing."""
        # Rows may hold password hashes and secrets.
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        return os.fdopen(descriptor, "wb", _BUFFER_BYTES)

    def add(self, file: BinaryIO, row: SpooledRow, record: Hashable | None = None) -> None:
        """Appends a row to `file`, which `open` returned. `record` identifies the record that the
        row describes; None if that is unknown.
        """
        self._duplicates.add(record)
        # An offset for every line would take too much memory.
        if self.count % _ROWS_PER_OFFSET == 0:
            self._offsets.append(self._size)
        self._size += file.write(_ENCODER.encode(row) + b"\n")
        self.count += 1

    def first_rows(self, skip: int) -> Iterator[int | None]:
        """Yields, for each row after the first `skip`, the index of the first row of the same
        record, or None if no earlier row describes its record. The iterator is endless.
        """
        return self._duplicates.first_rows(skip)

    def find_duplicates(self) -> None:
        """Finds the rows that describe the same record as an earlier one, once all rows are added;
        `first_rows` returns the result. Raises OSError.
        """
        if self.count:
            self._duplicates.find()

    def batches(self, skip: int, size: int) -> Iterator[list[SpooledRow]]:
        """Yields the rows after the first `skip`, in lists of up to `size` rows and a limited
        number of bytes.
        """
        batch: list[SpooledRow] = []
        batch_size = 0
        for line in self._lines(skip):
            if batch and (len(batch) == size or batch_size + len(line) > MAX_BATCH_BYTES):
                yield batch
                batch, batch_size = [], 0
            batch.append(_DECODER.decode(line))
            batch_size += len(line)
        if batch:
            yield batch

    def _lines(self, skip: int) -> Iterator[bytes]:
        if skip >= self.count:
            return
        with self._path.open("rb") as file:
            file.seek(self._offsets[skip // _ROWS_PER_OFFSET])
            for number, line in enumerate(file, skip // _ROWS_PER_OFFSET * _ROWS_PER_OFFSET):
                if number >= skip:
                    yield line


class Spool:
    """The row files of all kinds, in the order in which rows are stored."""

    def __init__(self, folder: Path, members: Sequence[str]) -> None:
        self.row_files = {
            member: RowFile(folder / f"rows-{number}.ndjson")
            for number, member in enumerate(members)
        }
        self._files: dict[str, BinaryIO] = {}
        self._stack = ExitStack()

    def close(self) -> None:
        """Closes the files; no row can be added afterwards."""
        self._stack.close()

    def find_duplicates(self) -> None:
        """Finds in each file the rows that describe the same record as an earlier one
        (`RowFile.first_rows`). Raises OSError.
        """
        for row_file in self.row_files.values():
            row_file.find_duplicates()

    def add(self, member: str, row: SpooledRow, record: Hashable | None = None) -> None:
        """Appends a row to the file of the kind `member`, which is created with its first row.

        `record` identifies the record that the row describes; None if that is unknown.
        """
        file = self._files.get(member)
        if file is None:
            file = self._stack.enter_context(self.row_files[member].open())
            self._files[member] = file
        self.row_files[member].add(file, row, record)
