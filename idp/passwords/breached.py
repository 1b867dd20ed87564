"""Look-up of a password in a list of breached ones, by its SHA-1 as such lists are published.

A list has one of three forms, recognised by the file or directory at its path:

* a text file, sorted, with a line `SHA1HEX:COUNT` for each password;
* a directory of range files, each named by the first 5 hex digits (`0A1B2` or `0A1B2.txt`), with
  sorted or unsorted lines `SUFFIX:COUNT` of the other 35;
* a compact file, as `idp passwords compact` writes it: `IDPB1`, the number of entries in 8 bytes,
  then the first 8 bytes of each SHA-1, sorted.

Nothing is loaded: files are mapped, and a look-up reads a few of their pages. SHA-1 is only a
look-up key here and protects nothing.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import re
from abc import abstractmethod
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final, Protocol

MAGIC: Final = b"IDPB1"
HEADER_BYTES: Final = len(MAGIC) + 8
PREFIX_BYTES: Final = 8
RANGE_DIGITS: Final = 5
MAX_RANGE_BYTES: Final = 16 * 1024 * 1024
_MAX_LINE_BYTES: Final = 64
_SAMPLES: Final = 1000  # places at which the order is checked when a list is opened
_READ_SAMPLES: Final = 50  # files of a directory that are read when it is opened
_LINE: Final = re.compile(rb"([0-9A-Fa-f]{40}):([0-9]{1,12})")
_RANGE_LINE: Final = re.compile(rb"([0-9A-Fa-f]{35}):([0-9]{1,12})")
_RANGE_NAME: Final = re.compile(r"([0-9A-Fa-f]{5})(\.txt)?")


class UnusableList(ValueError):
    """The list is truncated, out of order or of no known form; the text says what is wrong."""


class BreachedPasswords(Protocol):
    """A list in which single passwords can be looked up."""

    @abstractmethod
    def contains(self, password: str) -> bool:
        """Returns whether the list has the password with at least the count (`min_count`) that
        `open_list` was given.

        Reads files, so it must not run on the event loop. Raises OSError.
        """

    @abstractmethod
    def entries(self) -> Iterator[bytes]:
        """Yields, in order, the SHA-1 of each password with at least the count that `open_list`
        was given; a compact list yields only the first 8 bytes of each."""


def open_list(path: Path, min_count: int = 1) -> BreachedPasswords:
    """Opens the list at this path; passwords that were seen less than `min_count` times are
    ignored. A compact list has no counts: `min_count` was applied when it was written.

    Raises UnusableList, OSError.
    """
    if path.is_dir():
        return RangeDirectory(path, min_count)
    with path.open("rb") as file:
        if os.fstat(file.fileno()).st_size == 0:
            raise UnusableList("it is empty")
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return CompactFile(mapped) if mapped[: len(MAGIC)] == MAGIC else TextFile(mapped, min_count)


def digest(password: str) -> bytes:
    """Returns the SHA-1 of the password in UTF-8: 20 bytes."""
    return hashlib.sha1(password.encode(), usedforsecurity=False).digest()


class TextFile:
    """A list with lines `SHA1HEX:COUNT`, sorted by hash."""

    def __init__(self, mapped: mmap.mmap, min_count: int) -> None:
        self._mapped = mapped
        self._min_count = min_count
        self._check()

    def contains(self, password: str) -> bool:
        """Returns whether the file has the password. Reads about 30 places of the largest list."""
        target = digest(password).hex().upper().encode()
        low, high = 0, len(self._mapped)
        while low < high:
            start, end = self._line_around((low + high) // 2)
            entry, count = self._read(start, end)
            if entry == target:
                return count >= self._min_count
            low, high = (end + 1, high) if entry < target else (low, start)
        return False

    def entries(self) -> Iterator[bytes]:
        """Yields, in order, the SHA-1 of each line that has at least the count that `open_list`
        was given. Raises UnusableList if the file is not sorted."""
        start, previous = 0, b""
        while start < len(self._mapped):
            end = self._line_end(start)
            entry, count = self._read(start, end)
            if entry <= previous:
                raise UnusableList(f"it is not sorted at byte {start}")
            previous = entry
            if count >= self._min_count:
                yield bytes.fromhex(entry.decode())
            start = end + 1

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


class CompactFile:
    """A list with the first bytes of each SHA-1, sorted, after a header."""

    def __init__(self, mapped: mmap.mmap) -> None:
        self._mapped = mapped
        self._count = int.from_bytes(mapped[len(MAGIC) : HEADER_BYTES], "big")
        if len(mapped) != HEADER_BYTES + self._count * PREFIX_BYTES:
            raise UnusableList(f"it is truncated: it should have {self._count} entries")
        self._check()

    def contains(self, password: str) -> bool:
        """Returns whether the file has the password. Of passwords that are not in a list of 100
        million entries, one in 10^11 is a false positive, since only the first bytes of hashes are
        compared."""
        target = digest(password)[:PREFIX_BYTES]
        low, high = 0, self._count
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if self._entry(middle) < target else (low, middle)
        return low < self._count and self._entry(low) == target

    def entries(self) -> Iterator[bytes]:
        """Yields the first bytes of each SHA-1."""
        return map(self._entry, range(self._count))

    def _check(self) -> None:
        previous = b""
        for number in range(min(_SAMPLES, self._count)):
            entry = self._entry(number * self._count // min(_SAMPLES, self._count))
            if entry <= previous and number:
                raise UnusableList("it is not sorted")
            previous = entry

    def _entry(self, number: int) -> bytes:
        start = HEADER_BYTES + number * PREFIX_BYTES
        return self._mapped[start : start + PREFIX_BYTES]


class RangeDirectory:
    """A list with a file for each first 5 hex digits, with lines `SUFFIX:COUNT`."""

    def __init__(self, path: Path, min_count: int) -> None:
        self._path = path
        self._min_count = min_count
        self._suffix = self._check()

    def contains(self, password: str) -> bool:
        """Returns whether the directory has the password. Reads one file."""
        target = digest(password).hex().upper()
        try:
            text = self._read(target[:RANGE_DIGITS])
        except FileNotFoundError:
            return False
        return count_in_range(text, target[RANGE_DIGITS:]) >= self._min_count

    def entries(self) -> Iterator[bytes]:
        """Yields, in order, the SHA-1 of each line that has at least the count that `open_list`
        was given. Raises UnusableList."""
        names = sorted(entry[1].upper() for entry in map(_name_of_range, self._files()) if entry)
        for name in names:
            for suffix, count in sorted(_range_lines(self._read(name), name)):
                if count >= self._min_count:
                    yield bytes.fromhex(name + suffix.decode())

    def _files(self) -> Iterator[Path]:
        return self._path.iterdir()

    def _check(self) -> str:
        """The suffix of the files' names. Raises UnusableList if there are no range files, or some
        can't be read."""
        suffix = None
        for number, file in enumerate(islice(self._files(), _SAMPLES)):
            entry = _name_of_range(file)
            if entry is None or not (entry[1].isupper() or entry[1].isdigit()):
                raise UnusableList(f"{file.name} is not named by 5 hex digits in capitals")
            if suffix is not None and (entry[2] or "") != suffix:
                raise UnusableList("some files are named with .txt and some without")
            suffix = entry[2] or ""
            if number < _READ_SAMPLES:
                list(_range_lines(file.read_bytes(), file.name))
        if suffix is None:
            raise UnusableList("the directory has no range files")
        return suffix

    def _read(self, name: str) -> bytes:
        with (self._path / f"{name}{self._suffix}").open("rb") as file:
            return file.read(MAX_RANGE_BYTES)


def count_in_range(text: bytes, suffix: str) -> int:
    """Returns the count that `text`, the lines of a range, has for the hash with this suffix of 35
    hex digits; 0 if it has none.
    """
    match = re.search(rb"(?im)^" + suffix.encode() + rb":([0-9]{1,12})\r?$", text)
    return int(match[1]) if match else 0


def _name_of_range(file: Path) -> re.Match[str] | None:
    return _RANGE_NAME.fullmatch(file.name)


def _range_lines(text: bytes, name: str) -> Iterator[tuple[bytes, int]]:
    """The lines of a range file: suffix in upper case, count. Raises UnusableList."""
    for line in text.splitlines():
        match = _RANGE_LINE.fullmatch(line)
        if match is None:
            raise UnusableList(f"{name} has a line that is not of the form SUFFIX:COUNT")
        yield match[1].upper(), int(match[2])
