"""Imports in a process of their own, so that those who sign in meanwhile need not wait for them.

A server process looks for jobs that wait, and starts a child for them: with the lowest claim to
the processor, and with a store of its own. What it is told, it is told by its standard input,
which ends with its parent: then it stops after the batch that it is at, and another process goes
on with the job.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Final

import msgspec

from idp import exits, logs, start
from idp.config import Config
from idp.service import Service
from idp.transfer import jobs, running
from storage import StorageError

LOOKS_EVERY_SECONDS: Final = 1.0
NICENESS: Final = 10
_RETRY_SECONDS: Final = 5.0  # after a child that failed
_MODULE: Final = "idp.transfer.process"

_log: Final = logs.logger(__name__)


class Importer:
    """Starts children for the jobs that wait, one at a time. `wake` has it look at once."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._woken = asyncio.Event()

    def wake(self) -> None:
        """Look now whether a job waits."""
        self._woken.set()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Within the block, jobs that wait are worked on."""
        task = asyncio.create_task(self._look())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _look(self) -> None:
        is_alone = self._service.config.is_in_memory
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._woken.wait(), LOOKS_EVERY_SECONDS)
            self._woken.clear()
            try:
                if is_alone:  # nobody else can open the store
                    await running.work_due(self._service)
                elif await jobs.due(self._service) is not None:
                    await self._run_child()
            except StorageError as error:
                _log.warning("imports wait for the store", error=str(error))
                await asyncio.sleep(_RETRY_SECONDS)

    async def _run_child(self) -> None:
        """A child's whole life. Who is cancelled lets it finish its batch."""
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-m", _MODULE, stdin=asyncio.subprocess.PIPE
        )
        pipe = child.stdin
        if pipe is None:
            raise RuntimeError("a child without an input")
        try:
            pipe.write(msgspec.json.encode(self._service.config) + b"\n")
            with suppress(ConnectionError):
                await pipe.drain()
            code = await child.wait()
        finally:
            pipe.close()
            await _ended(child, self._service.config.drain_seconds)
        if code != exits.OK:
            _log.error("a process for imports failed", code=code)
            await asyncio.sleep(_RETRY_SECONDS)


async def _ended(child: Process, patience_seconds: float) -> None:
    """Let a child finish its batch; what it is at otherwise bears being cut off."""
    with suppress(TimeoutError):
        await asyncio.wait_for(child.wait(), patience_seconds)
    if child.returncode is None:
        child.kill()
        await child.wait()


def main() -> int:
    """Work on the jobs that wait, until there are none or the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal's; the parent lets us know
    os.nice(NICENESS)
    config = msgspec.json.decode(sys.stdin.buffer.readline(), type=Config)
    is_over = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: is_over.set())
    threading.Thread(target=_await_end, args=(is_over,), daemon=True).start()
    return exits.guarded(lambda: asyncio.run(_work(config, is_over.is_set)))


def _await_end(is_over: threading.Event) -> None:
    """Note when the parent's end of the pipe is closed."""
    os.read(sys.stdin.fileno(), 1)
    is_over.set()


async def _work(config: Config, is_to_leave: Callable[[], bool]) -> None:
    service = await start.open_service(config, must_exist=True)
    try:
        await running.work_due(service, is_to_leave=is_to_leave)
    finally:
        await start.close_service(service)


if __name__ == "__main__":
    sys.exit(main())
