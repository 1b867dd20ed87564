"""Several processes on one port: a parent that starts workers, replaces them and stops them.

The parent opens nothing: no store, no threads, no event loop. One child prepares everything and
returns the announcement; then a worker is started for each socket. A worker that ends unexpectedly
is replaced. When the parent itself is killed, its end of a pipe closes, and the workers finish
their requests and end.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from msgspec import Struct

from idp.start import exit_codes

_RESTART_SECONDS: Final = 1.0
_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)


class Life(Struct, frozen=True):
    """The connection of a worker to its parent.

    `ready` reports that it serves; `parent` is a descriptor that is closed when the parent ends.
    """

    ready: Callable[[], None]
    parent: int


class Supervisor:
    """Runs `prepare` once, then `work(index, life)` in `count` processes.

    `close_sockets` is called when all are asked to stop: the parent closes what it holds for
    workers that would be restarted.
    """

    def __init__(
        self,
        *,
        prepare: Callable[[], bytes],
        work: Callable[[int, Life], None],
        count: int,
        close_sockets: Callable[[], None],
    ) -> None:
        self._prepare = prepare
        self._work = work
        self._count = count
        self._close_sockets = close_sockets
        self._workers: dict[int, int] = {}
        self._is_stopping = False
        self._code = exit_codes.OK
        self._life_pipe, self._life_pipe_end = os.pipe()

    def run(self, announce: Callable[[bytes], None]) -> None:
        """Returns when every worker has ended after SIGTERM or SIGINT.

        Raises SystemExit if the start failed, or a worker could not finish its work.
        """
        for number in _SIGNALS:
            signal.signal(number, self._stop)
        announcement = self._prepared()
        if self._start_all():
            announce(announcement)
        elif not self._is_stopping:
            self._stop()
        while self._workers:
            self._reap_one()
        if self._code != exit_codes.OK:
            raise SystemExit(self._code)

    def _prepared(self) -> bytes:
        """Returns the announcement of the preparing child.

        Raises SystemExit if it failed; it has printed why.
        """
        read, write = os.pipe()

        def prepare() -> None:
            announcement = self._prepare()
            with suppress(BrokenPipeError), os.fdopen(write, "wb") as pipe:
                pipe.write(announcement)

        self._spawn(prepare, 0)
        os.close(write)
        with os.fdopen(read, "rb") as pipe:
            announcement = pipe.read()
        for child in list(self._workers):
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            del self._workers[child]
            if code != exit_codes.OK and not self._is_stopping:
                raise SystemExit(_exit_code(code))
        return announcement

    def _start_all(self) -> bool:
        """Starts every worker and waits until all serve, or one has ended; returns whether all
        serve.
        """
        read, write = os.pipe()
        for index in range(self._count):
            self._start(index, write)
        os.close(write)
        with os.fdopen(read, "rb") as pipe:
            served = len(pipe.read())  # ends when each worker has reported, or has ended
        return served == self._count

    def _start(self, index: int, ready: int) -> None:
        life = Life(ready=lambda: _report_ready(ready), parent=self._life_pipe)
        self._spawn(lambda: self._work(index, life), index)

    def _spawn(self, work: Callable[[], None], index: int) -> None:
        """Runs `work` in a child, unless all are stopping.

        Signals are blocked meanwhile: one that arrived between the fork and the entry in
        `_workers` would never reach the child.
        """

        def begin() -> None:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            # From a terminal; the parent forwards it as SIGTERM.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
            os.close(self._life_pipe_end)
            work()

        signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        try:
            if not self._is_stopping:
                self._workers[_fork(begin)] = index
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)

    def _reap_one(self) -> None:
        """Waits for a worker's end, and replaces it unless all are stopping."""
        child, status = os.wait()
        index = self._workers.pop(child, None)
        if index is None:
            return  # not a worker: a container's first process inherits every orphan
        code = os.waitstatus_to_exitcode(status)
        if self._is_stopping:
            if code not in (exit_codes.OK, -signal.SIGTERM):
                self._code = _exit_code(code)
            return
        print(f"idp: a worker ended with {code}; starting another", file=sys.stderr, flush=True)
        time.sleep(_RESTART_SECONDS)
        unread = os.open(os.devnull, os.O_WRONLY)
        self._start(index, unread)
        os.close(unread)

    def _stop(self, *_: object) -> None:
        """Asks the workers to finish; at the second signal, kills them."""
        number = signal.SIGKILL if self._is_stopping else signal.SIGTERM
        self._is_stopping = True
        self._close_sockets()
        for child in list(self._workers):
            with suppress(ProcessLookupError):  # it has ended meanwhile
                os.kill(child, number)


def _exit_code(code: int) -> int:
    """Returns an exit code for this process; a child's is negative when a signal ended it."""
    return code if code > 0 else exit_codes.FAILED


def _report_ready(descriptor: int) -> None:
    with suppress(BrokenPipeError):  # the parent has ended, and this process will
        os.write(descriptor, b".")
    os.close(descriptor)


def _fork(work: Callable[[], None]) -> int:
    """Runs `work` in a child, which ends with its exit code; returns the child's process id."""
    child = os.fork()
    if child:
        return child
    code = exit_codes.FAILED
    try:
        code = exit_codes.guarded(work)
    except BaseException:  # a child must never return into its parent's code
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
