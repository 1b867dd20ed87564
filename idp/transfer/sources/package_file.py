"""A package that is being written, with the persons of one organization: the body of an import
call.

It is written to a temporary file in the same folder, which replaces the target when it is
complete, so that no program reads a partial one. Only its owner can read it, because it holds
password hashes.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, Final

import msgspec

# The lists of an organization, in their order in the file.
LIST_NAMES: Final = ("humanUsers", "userMetadata", "projectRoles", "userGrants")
_COPIED_BYTES: Final = 1 << 20


class PackageFile:
    """The writer of a package, which accepts rows of its lists in any order, one at a time.

    `timeout` is that of the import call; with `is_multiline` the document has line breaks and
    indentation.
    """

    def __init__(self, file: BinaryIO, *, org_id: str, timeout: str, is_multiline: bool) -> None:
        self._file = file
        self._timeout = timeout
        self._indent = b"  " if is_multiline else b""
        self._is_multiline = is_multiline
        self._later_lists: dict[str, BinaryIO] = {}
        head = msgspec.json.encode(org_id)
        self._write_line(0, b'{"dataOrgs":')
        self._write_line(1, b'{"orgs":')
        self._write_line(2, b"[{")
        self._write_line(3, b'"orgId":' + head + b",")
        self._write_line(3, b'"humanUsers":[')
        self._counts = dict.fromkeys(LIST_NAMES, 0)

    def add(self, list_name: str, row: Mapping[str, Any]) -> None:
        """Adds a row to the list named `list_name`, one of `LIST_NAMES`."""
        if list_name == LIST_NAMES[0]:
            self._write_row(self._file, list_name, row)
            return
        # The file holds one list after the other, so all but the first are collected in temporary
        # files.
        if list_name not in self._later_lists:
            self._later_lists[list_name] = tempfile.TemporaryFile()  # noqa: SIM115 (by finish)
        self._write_row(self._later_lists[list_name], list_name, row)

    def finish(self) -> None:
        """Writes the lists whose rows are still in temporary files, and the end of the
        document.
        """
        self._write_line(3, b"]")
        for name in LIST_NAMES[1:]:
            if name in self._later_lists:
                self._write_line(3, b',"' + name.encode() + b'":[')
                waiting = self._later_lists.pop(name)
                waiting.seek(0)
                while copied := waiting.read(_COPIED_BYTES):
                    self._file.write(copied)
                waiting.close()
                self._write_line(3, b"]")
        self._write_line(2, b"}]},")
        self._write_line(1, b'"timeout":' + msgspec.json.encode(self._timeout))
        self._write_line(0, b"}")
        self._file.write(b"\n")

    def _write_row(self, file: BinaryIO, list_name: str, row: Mapping[str, Any]) -> None:
        encoded = msgspec.json.encode(row)
        separator = b"," if self._counts[list_name] else b""
        self._counts[list_name] += 1
        if self._is_multiline:
            lines = msgspec.json.format(encoded, indent=2).replace(b"\n", b"\n" + self._indent * 4)
            encoded = b"\n" + self._indent * 4 + lines
        file.write(separator + encoded)

    def _write_line(self, depth: int, data: bytes) -> None:
        if self._is_multiline and depth:
            data = b"\n" + self._indent * depth + data
        self._file.write(data)


@contextmanager
def atomic_writer(path: Path) -> Iterator[BinaryIO]:
    """Provides a file open for writing, which replaces the file at `path`, with mode 0600, when
    the block succeeds.

    Otherwise `path` does not change. Raises OSError.
    """
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".draft")
    try:
        with open(descriptor, "wb") as file:
            yield file
            file.flush()
            # On disk before it replaces the target, also after a power failure.
            os.fsync(descriptor)
        os.replace(name, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise
