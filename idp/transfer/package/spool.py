"""Rows on their way from a package into the store: on disk, by kind, in the package's order."""

from __future__ import annotations

import os
from array import array
from collections.abc import Hashable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO, Final

import msgspec
from msgspec import Struct

from idp.transfer.package.duplicates import Doubles
from idp.transfer.package.rows import RowProblem

ITSELF: Final = -1
MAX_BATCH_BYTES: Final = 4 * 1024 * 1024
_MARK_EVERY: Final = 1000
_BUFFER_BYTES: Final = 64 * 1024


class Spooled(Struct, frozen=True, array_like=True):
    """A row without what its place in the spool says: of which organization, counted from 0, and
    at which place in the list; None where there is no list, ITSELF for the whole organization."""

    organization: int
    index: int | None
    document: object = None
    broken: tuple[RowProblem, ...] = ()


_ENCODER: Final = msgspec.json.Encoder()
_DECODER: Final = msgspec.json.Decoder(Spooled)


class RowFile:
    """The rows of one kind: a file of lines. Where every thousandth line begins is held."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._marks = array("Q")
        self._doubles = Doubles(path.with_suffix(".records"))
        self._octets = 0
        self.count = 0

    def open(self) -> BinaryIO:
        """The file to write the lines into; nobody else may read it."""
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        return os.fdopen(descriptor, "wb", _BUFFER_BYTES)

    def add(self, file: BinaryIO, row: Spooled, record: Hashable | None = None) -> None:
        """Put a row behind the others; `record` is what it tells of, if that is known."""
        self._doubles.add(record)
        if self.count % _MARK_EVERY == 0:
            self._marks.append(self._octets)
        self._octets += file.write(_ENCODER.encode(row) + b"\n")
        self.count += 1

    def firsts(self, skip: int) -> Iterator[int | None]:
        """For each row behind the first `skip` the place of the first one of its record, if that
        is another one; without an end."""
        return self._doubles.firsts(skip)

    def look_for_doubles(self) -> None:
        """Know the rows of one record, when all are there. Raises OSError."""
        if self.count:
            self._doubles.find()

    def batches(self, skip: int, size: int) -> Iterator[list[Spooled]]:
        """The rows behind the first `skip`: up to `size` at once, and some megabytes."""
        batch: list[Spooled] = []
        octets = 0
        for line in self._lines(skip):
            if batch and (len(batch) == size or octets + len(line) > MAX_BATCH_BYTES):
                yield batch
                batch, octets = [], 0
            batch.append(_DECODER.decode(line))
            octets += len(line)
        if batch:
            yield batch

    def _lines(self, skip: int) -> Iterator[bytes]:
        if skip >= self.count:
            return
        with self._path.open("rb") as file:
            file.seek(self._marks[skip // _MARK_EVERY])
            for number, line in enumerate(file, skip // _MARK_EVERY * _MARK_EVERY):
                if number >= skip:
                    yield line


class Spool:
    """The drawers of all kinds, in the order in which they are emptied."""

    def __init__(self, folder: Path, members: Sequence[str]) -> None:
        self.drawers = {
            member: RowFile(folder / f"rows-{number}.ndjson")
            for number, member in enumerate(members)
        }
        self._files: dict[str, BinaryIO] = {}
        self._stack = ExitStack()

    def close(self) -> None:
        """No more rows will be added."""
        self._stack.close()

    def look_for_doubles(self) -> None:
        """Know the rows of one record in each drawer. Raises OSError."""
        for drawer in self.drawers.values():
            drawer.look_for_doubles()

    def add(self, member: str, row: Spooled, record: Hashable | None = None) -> None:
        """Put a row into its drawer."""
        file = self._files.get(member)
        if file is None:
            file = self._stack.enter_context(self.drawers[member].open())
            self._files[member] = file
        self.drawers[member].add(file, row, record)
