"""The standard streams of the process: the program runs when they are closed, or can't be written.

Logs and messages go to stderr. If the disk behind it is full, or the program at the other end of
the pipe has ended, they are lost, and the work goes on.
"""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_STDOUT: Final = 1
_STDERR: Final = 2


class _LossyFile(io.FileIO):
    """A file that loses what can't be written to it, and never raises because of that."""

    def write(self, data: ReadableBuffer, /) -> int:
        with suppress(OSError):
            written = super().write(data)
            if written:
                return written
        return memoryview(data).nbytes


def secure() -> None:
    """Opens /dev/null for each standard stream that is closed, and makes writes to stderr succeed
    whatever happens to them. To be called before the process opens files of its own.

    A file would else get the number of the closed stream, and whatever is written to the stream.
    """
    _open_closed()
    if sys.stdout is None:
        sys.stdout = os.fdopen(_STDOUT, "w", encoding="utf-8", closefd=False)
    if sys.stderr is None or sys.stderr is sys.__stderr__:
        sys.stderr = _lossy_stderr()


def _open_closed() -> None:
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            opened = os.open(os.devnull, os.O_RDWR)  # it gets the lowest number, which is this one
            os.set_inheritable(opened, True)


def _lossy_stderr() -> io.TextIOWrapper:
    return io.TextIOWrapper(
        io.BufferedWriter(_LossyFile(_STDERR, "w", closefd=False)),
        encoding=getattr(sys.stderr, "encoding", "utf-8"),
        errors="backslashreplace",
        line_buffering=True,
    )
