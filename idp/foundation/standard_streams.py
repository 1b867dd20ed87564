"""The standard streams of the process: the program runs when they are closed, or can't be written.

Logs and messages go to stderr. If the disk behind it is full, or the program at the other end of
the pipe has ended, they are lost, and the work continues. A service does not wait long for a
program that does not read them, either.
"""

from __future__ import annotations

import fcntl
import io
import os
import select
import socket
import stat
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_STDOUT: Final = 1
_STDERR: Final = 2
_WAIT_SECONDS: Final = 0.5  # once, until a write succeeds again
_PIPE_BYTES: Final = 1024 * 1024  # the most that Linux allows every user


class _NonBlockingPipe:
    """Writes to a pipe without waiting. Other processes that write to it still wait: this is
    another descriptor of the same pipe, with a mode of its own. Raises OSError."""

    def __init__(self, descriptor: int) -> None:
        flags = os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC
        self._target = os.open(f"/proc/self/fd/{descriptor}", flags)

    def send(self, data: memoryview) -> int:
        """Writes as much as there is room for; returns the number of bytes. Raises BlockingIOError
        if there is no room, and OSError."""
        return os.write(self._target, data)

    def close(self) -> None:
        os.close(self._target)


class _NonBlockingSocket:
    """Writes to a socket without waiting."""

    def __init__(self, descriptor: int) -> None:
        self._target = socket.socket(fileno=os.dup(descriptor))

    def send(self, data: memoryview) -> int:
        """Does the same as `_NonBlockingPipe.send`."""
        return self._target.send(data, socket.MSG_DONTWAIT)

    def close(self) -> None:
        self._target.close()


class _LossyFile(io.FileIO):
    """A file that loses what can't be written to it, and never raises because of that.

    `lost` is how many writes were lost because nothing has read what was written before.
    """

    lost = 0
    _non_blocking: _NonBlockingPipe | _NonBlockingSocket | None = None
    _is_stuck = False
    _is_line_incomplete = False  # the last line was only partly written

    def write(self, data: ReadableBuffer, /) -> int:
        view = memoryview(data)
        if self._non_blocking is not None:
            self._write_in_time(self._non_blocking.send, view.cast("B"))
            return view.nbytes
        with suppress(OSError):
            written = super().write(data)
            if written:
                return written
        return view.nbytes

    def limit_waits(self) -> None:
        """Makes a write wait for a program that reads this pipe or socket only for a short time,
        and the next ones not at all until one succeeds."""
        self._non_blocking = _non_blocking(self.fileno())

    def close(self) -> None:
        if self._non_blocking is not None:
            self._non_blocking.close()
        super().close()

    def _write_in_time(self, send: Callable[[memoryview], int], data: memoryview) -> None:
        until = time.monotonic() + (0.0 if self._is_stuck else _WAIT_SECONDS)
        remaining = memoryview(b"\n" + data) if self._is_line_incomplete else data
        whole_bytes = remaining.nbytes
        try:
            while remaining:
                remaining = self._send_part(send, remaining, until)
        except TimeoutError:
            self._is_stuck = True
            self._is_line_incomplete = self._is_line_incomplete or remaining.nbytes < whole_bytes
            self.lost += 1
        except OSError:
            return  # no program will read it
        else:
            self._is_stuck = self._is_line_incomplete = False

    def _send_part(
        self, send: Callable[[memoryview], int], data: memoryview, until: float
    ) -> memoryview:
        """Sends as much as there is room for; returns the remaining data. Raises TimeoutError if
        there is no room before `until`, in monotonic seconds, and OSError."""
        try:
            return data[send(data) :]
        except BlockingIOError:
            seconds, poll = until - time.monotonic(), select.poll()
            poll.register(self.fileno(), select.POLLOUT)
            if seconds <= 0 or not poll.poll(seconds * 1000):
                raise TimeoutError from None
            return data


def _non_blocking(descriptor: int) -> _NonBlockingPipe | _NonBlockingSocket | None:
    """Returns the writer for the pipe or socket with this descriptor; None for anything else."""
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISSOCK(mode):
        return _NonBlockingSocket(descriptor)
    if not stat.S_ISFIFO(mode):
        return None
    with suppress(OSError):  # it stays as large as it is
        fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    try:
        return _NonBlockingPipe(descriptor)
    except OSError:
        return None  # the pipe is another user's


def secure() -> None:
    """Opens /dev/null for each standard stream that is closed, and makes writes to stderr never
    fail. To be called before the process opens files of its own.

    Otherwise a file would get the number of the closed stream, and everything written to it.
    """
    _open_closed()
    if sys.stdout is None:
        sys.stdout = os.fdopen(_STDOUT, "w", encoding="utf-8", closefd=False)
    if sys.stderr is None or sys.stderr is sys.__stderr__:
        sys.stderr = _lossy_stderr()


def limit_waits() -> None:
    """Makes writes to stderr wait for the program that reads it for half a second in all: what is
    written while it reads nothing is lost. To be called by a service, after `secure`."""
    file = _stderr_file()
    if file is not None:
        file.limit_waits()


def take_lost() -> int:
    """Returns how many writes to stderr were lost since the last call, because nothing has read
    it."""
    file = _stderr_file()
    if file is None:
        return 0
    lost_writes, file.lost = file.lost, 0
    return lost_writes


def _stderr_file() -> _LossyFile | None:
    file = getattr(getattr(sys.stderr, "buffer", None), "raw", None)
    return file if isinstance(file, _LossyFile) else None


def _open_closed() -> None:
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            # It gets the lowest number, which is this one.
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)


def _lossy_stderr() -> io.TextIOWrapper:
    return io.TextIOWrapper(
        io.BufferedWriter(_LossyFile(_STDERR, "w", closefd=False)),
        encoding=getattr(sys.stderr, "encoding", "utf-8"),
        errors="backslashreplace",
        line_buffering=True,
    )
