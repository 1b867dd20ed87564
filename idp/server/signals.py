"""Signals as a queue that a process without an event loop waits for."""

from __future__ import annotations

import os
import select
import signal
import socket
from collections.abc import Iterable
from contextlib import suppress
from types import FrameType, TracebackType
from typing import Final, Self

_READ_BYTES: Final = 4096


class SignalQueue:
    """A context in which signals with the numbers `numbers` do not interrupt this process, but are
    recorded for `received`.

    A signal handler only records its signal, so no other state of the process changes at an
    unexpected moment.
    """

    def __init__(self, numbers: Iterable[int]) -> None:
        self._numbers = tuple(numbers)
        # The sockets only wake the process: when many signals fill them, the next leave no byte.
        self._read, self._write = socket.socketpair()
        self._arrived: list[int] = []

    def __enter__(self) -> Self:
        self._read.setblocking(False)
        self._write.setblocking(False)
        for number in self._numbers:
            signal.signal(number, self._record)
        signal.set_wakeup_fd(self._write.fileno(), warn_on_full_buffer=False)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._leave()

    def wait(self, seconds: float | None, *descriptors: int) -> set[int]:
        """Waits for a signal or for one of `descriptors`, at most `seconds`; returns those of them
        that are readable or closed.
        """
        poll = select.poll()
        for descriptor in (self._read.fileno(), *descriptors):
            poll.register(descriptor, select.POLLIN)
        ready = poll.poll(None if seconds is None else max(0.0, seconds) * 1000)
        return {descriptor for descriptor, _ in ready} & set(descriptors)

    def received(self) -> list[int]:
        """Returns the signals that have arrived since the last call, in their order."""
        with suppress(BlockingIOError):
            self._read.recv(_READ_BYTES)
        arrived, self._arrived = self._arrived, []
        return arrived

    def fork(self) -> int:
        """Forks. Returns 0 in the child, and its process id in the parent.

        The child is no longer in the queue's `with` block: its signals have their default actions
        again, except SIGHUP, which it ignores. A signal that is sent to one of the two during the
        fork waits until that one has its own handlers, so a signal to the child never gets into
        the parent's queue.
        """
        signal.pthread_sigmask(signal.SIG_BLOCK, self._numbers)
        try:
            child = os.fork()
            if not child:
                self._leave()
            return child
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, self._numbers)

    def _record(self, number: int, _: FrameType | None) -> None:
        self._arrived.append(number)

    def _leave(self) -> None:
        signal.set_wakeup_fd(-1)
        for number in self._numbers:
            is_reload = number == signal.SIGHUP  # it must never end a process
            signal.signal(number, signal.SIG_IGN if is_reload else signal.SIG_DFL)
        self._read.close()
        self._write.close()
