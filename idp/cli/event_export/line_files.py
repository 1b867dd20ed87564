"""The outputs of an export: a series of files, or standard output.

Both take lines by `add` and write them by `store`, which continues where it stopped if it is
called again after an error.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import select
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import BinaryIO, Final, Protocol

from idp.foundation.clock import Clock
from idp.foundation.errors import AlreadyRunning, ConfigError
from idp.foundation.private_files import sync_directory

MAX_BYTES: Final = 256_000_000
_MODE: Final = 0o640  # the group is for the program that collects the lines
_NO_WAIT: Final = os.O_NONBLOCK  # a pipe without a reader is refused, and not waited for
_INSTANT: Final = "%Y%m%dT%H%M%S.%f"
_BLOCK: Final = 65_536
_NO_SYNC: Final = (errno.EINVAL, errno.ENOTSUP, errno.EROFS)  # of pipes and terminals


class Lines(Protocol):
    """An output that takes lines."""

    def add(self, lines: bytes) -> None:
        """Takes whole lines, which the next call of `store` writes."""

    def store(self) -> None:
        """Writes the lines that were taken, and waits until they are on disk. Raises OSError,
        AlreadyRunning, ConfigError."""

    def close(self) -> None:
        """Closes the output."""


class LineFile:
    """Files to which lines are appended: the first one at `path`, the others beside it, with the
    instant of their creation in the name. The next one is created before a file would have more
    than `max_bytes`.

    No file is renamed: a program that collects the lines has to know only one pattern, and finds
    what was written while it did not run.
    """

    def __init__(self, path: Path, clock: Clock, max_bytes: int = MAX_BYTES) -> None:
        self._first, self._clock, self._max_bytes = path, clock, max_bytes
        self._name = re.compile(
            rf"{re.escape(path.stem)}-(\d{{8}}T\d{{6}}\.\d{{3}})Z{re.escape(path.suffix)}"
        )
        self._path: Path | None = None
        self._descriptor: int | None = None
        self._pending = memoryview(b"")

    def add(self, lines: bytes) -> None:
        self._pending = memoryview(lines)

    def store(self) -> None:
        descriptor = self._descriptor_for_pending()
        while self._pending:
            self._pending = self._pending[os.write(descriptor, self._pending) :]
        os.fsync(descriptor)

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _descriptor_for_pending(self) -> int:
        """Returns the descriptor of a file that has room for the lines."""
        path = self._path or self._newest()
        descriptor = self._descriptor
        if descriptor is None or not _is_named(descriptor, path):
            descriptor = self._open(path)
        size = os.fstat(descriptor).st_size
        if size and size + len(self._pending) > self._max_bytes and _ends_with_line(path):
            descriptor = self._open(self._next(path))
        return descriptor

    def _open(self, path: Path) -> int:
        """Opens the file, locked; creates it if it is missing."""
        self.close()
        descriptor = os.open(
            path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | _NO_WAIT, _MODE
        )
        try:
            _lock(descriptor, path)
            _blank_incomplete_line(path)
            sync_directory(path.parent)
        except BaseException:
            os.close(descriptor)
            raise
        self._path, self._descriptor = path, descriptor
        return descriptor

    def _newest(self) -> Path:
        """Returns the file that was created last."""
        files = [each for each in self._first.parent.iterdir() if self._instant(each)]
        return max(files, key=lambda each: each.name, default=self._first)

    def _next(self, path: Path) -> Path:
        """Returns the path of the file after this one, whose name sorts later even if the clock
        was set back."""
        now, before = self._clock.now(), self._instant(path)
        at = now if before is None else max(now, before + timedelta(milliseconds=1))
        text = at.astimezone(UTC).strftime(_INSTANT)[:-3]
        return self._first.with_stem(f"{self._first.stem}-{text}Z")

    def _instant(self, path: Path) -> datetime | None:
        """The instant in the name of a file, None if the name has none."""
        match = self._name.fullmatch(path.name)
        try:
            return datetime.strptime(match[1], _INSTANT).replace(tzinfo=UTC) if match else None
        except ValueError:  # such as a 31st of February
            return None


def _is_named(descriptor: int, path: Path) -> bool:
    """Whether the open file still has this name: it may have been moved or removed."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def _lock(descriptor: int, path: Path) -> None:
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        raise ConfigError([f"{path} is not a file: name one, or - for standard output"])
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise AlreadyRunning(f"another export writes {path}") from None


def _ends_with_line(path: Path) -> bool:
    with path.open("rb") as file:
        return _end_of_lines(file) == file.seek(0, os.SEEK_END)


def _blank_incomplete_line(path: Path) -> None:
    """Replaces an incomplete line at the end, which a killed export has left, by a blank one.

    The file does not become shorter, because a program that collects the lines may have read the
    beginning of that line.
    """
    with path.open("r+b", buffering=0) as file:
        end, size = _end_of_lines(file), file.seek(0, os.SEEK_END)
        if end < size:
            file.seek(end)
            file.write(b" " * (size - end))
            file.write(b"\n")
            os.fsync(file.fileno())


def _end_of_lines(file: BinaryIO) -> int:
    """Returns the position after the last line break, 0 if there is none."""
    end = file.seek(0, os.SEEK_END)
    while end:
        begin = max(0, end - _BLOCK)
        file.seek(begin)
        line_end = file.read(end - begin).rfind(b"\n")
        if line_end >= 0:
            return begin + line_end + 1
        end = begin
    return 0


class LineStream:
    """A stream, such as standard output, to which lines are written."""

    def __init__(self, stream: BinaryIO) -> None:
        # Without a buffer, so that it is known what was written.
        self._stream: BinaryIO = getattr(stream, "raw", stream)
        self._pending = memoryview(b"")

    def add(self, lines: bytes) -> None:
        self._pending = memoryview(lines)

    def store(self) -> None:
        while self._pending:
            written = self._stream.write(self._pending)
            if not written:  # a pipe that does not block is full
                select.select([], [self._stream], [])
            self._pending = self._pending[written or 0 :]
        self._stream.flush()
        _sync(self._stream)

    def close(self) -> None:
        pass  # standard output belongs to the program


def _sync(stream: BinaryIO) -> None:
    try:
        os.fsync(stream.fileno())
    except OSError as error:  # io.UnsupportedOperation is one, without a number
        if error.errno not in (None, *_NO_SYNC):
            raise
