"""Signals of a process: as a queue where it has no event loop, and as calls on its event loop."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import socket
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType, TracebackType
from typing import Final, Self

_READ_BYTES: Final = 4096


@contextmanager
def handled(number: int, callback: Callable[[], object]) -> Iterator[None]:
    """Within the block, the running event loop calls `callback` after each signal `number`, or
    once after several; afterwards, the signal is ignored.

    With the loop's own `add_signal_handler`, closing the loop would restore the default action,
    which ends a process that is about to exit.
    """
    loop = asyncio.get_running_loop()
    signal.signal(number, lambda *_: loop.call_soon_threadsafe(callback))
    try:
        yield
    finally:
        signal.signal(number, signal.SIG_IGN)


class SignalQueue:
    """A context in which signals with the numbers `numbers` do not interrupt this process, but are
    recorded for `received`.

    A signal handler only records its signal, so no other state of the process changes at an
    unexpected moment.
    """

    def __init__(self, numbers: Iterable[int]) -> None:
        self._numbers = tuple(numbers)
        # The sockets only wake the process: when many signals fill them, the next write no byte.
        self._read, self._write = socket.socketpair()
        self._pending: list[int] = []

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
        self._restore_handlers()

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
        pending, self._pending = self._pending, []
        return pending

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
                self._restore_handlers()
            return child
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, self._numbers)

    def _record(self, number: int, _: FrameType | None) -> None:
        self._pending.append(number)

    def _restore_handlers(self) -> None:
        signal.set_wakeup_fd(-1)
        for number in self._numbers:
            is_reload = number == signal.SIGHUP  # it must never end a process
            signal.signal(number, signal.SIG_IGN if is_reload else signal.SIG_DFL)
        self._read.close()
        self._write.close()
