"""Several processes on one port: a parent that starts workers, replaces them and stops them.

The parent opens nothing but what it was given: no store, no threads, no event loop. One child
prepares everything and says what to announce; then a worker is started for each number. A worker
that dies is replaced. When the parent itself is killed, its end of a pipe closes, and the workers
finish and leave.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Final

from msgspec import Struct

from idp import exits

_RESTART_SECONDS: Final = 1.0
_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)


class Life(Struct, frozen=True):
    """What a worker is given: a way to say that it serves, and a descriptor that ends with its
    parent."""

    ready: Callable[[], None]
    parent: int


class Failed(Exception):
    """A child could not start; it has said why. `code` is its exit code."""

    def __init__(self, code: int) -> None:
        super().__init__(f"a process ended with {code} before it could serve")
        self.code = code


class Supervisor:
    """Runs `prepare` once, then `work(index, life)` in `count` processes."""

    def __init__(
        self,
        *,
        prepare: Callable[[], bytes],
        work: Callable[[int, Life], None],
        count: int,
    ) -> None:
        self._prepare = prepare
        self._work = work
        self._count = count
        self._workers: dict[int, int] = {}
        self._is_stopping = False
        self._alive, self._alive_end = os.pipe()

    def run(self, announce: Callable[[bytes], None]) -> None:
        """Return when every worker has ended after SIGTERM. Raises SystemExit: a start failed."""
        try:
            told = self._prepared()
            for number in _SIGNALS:
                signal.signal(number, self._stop)
            self._start_all()
        except Failed as failed:
            self._stop()
            self._wait_for_all()
            raise SystemExit(failed.code) from failed
        announce(told)
        while self._workers:
            self._bury_one()

    def _prepared(self) -> bytes:
        """What the preparing child says. Raises Failed."""
        read, write = os.pipe()

        def prepare() -> None:
            os.close(read)
            with os.fdopen(write, "wb") as pipe:
                pipe.write(self._prepare())

        child = _fork(prepare)
        os.close(write)
        with os.fdopen(read, "rb") as pipe:
            told = pipe.read()
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code != exits.OK:
            raise Failed(code)
        return told

    def _start_all(self) -> None:
        """Start every worker and wait until all serve. Raises Failed."""
        read, write = os.pipe()
        for index in range(self._count):
            self._start(index, write)
        os.close(write)
        with os.fdopen(read, "rb") as pipe:
            served = len(pipe.read())  # ends when each worker has said so, or is gone
        if served < self._count:
            raise Failed(exits.FAILED)

    def _start(self, index: int, ready: int) -> None:
        def work() -> None:
            for number in _SIGNALS:
                signal.signal(number, signal.SIG_DFL)
            os.close(self._alive_end)
            self._work(index, Life(ready=lambda: _say_ready(ready), parent=self._alive))

        self._workers[_fork(work)] = index

    def _bury_one(self) -> None:
        """Wait for a worker's end; replace it unless all are stopping."""
        child, status = os.wait()
        index = self._workers.pop(child)
        if self._is_stopping:
            return
        code = os.waitstatus_to_exitcode(status)
        print(f"idp: a worker ended with {code}; starting another", file=sys.stderr, flush=True)
        time.sleep(_RESTART_SECONDS)
        if not self._is_stopping:
            self._start(index, os.open(os.devnull, os.O_WRONLY))

    def _stop(self, *_: object) -> None:
        """Pass the signal on; a second one does so again, and ends the workers at once."""
        self._is_stopping = True
        for child in list(self._workers):
            os.kill(child, signal.SIGTERM)

    def _wait_for_all(self) -> None:
        while self._workers:
            self._workers.pop(os.wait()[0], None)


def _say_ready(descriptor: int) -> None:
    os.write(descriptor, b".")
    os.close(descriptor)


def _fork(work: Callable[[], None]) -> int:
    """Do `work` in a child, which ends with its exit code; the child's process id."""
    child = os.fork()
    if child:
        return child
    code = exits.FAILED
    try:
        code = exits.guarded(work)
    except BaseException:  # a child must never return into its parent's code
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
