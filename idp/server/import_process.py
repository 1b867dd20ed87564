"""Imports in a process of their own, so that those who sign in meanwhile need not wait for them.

A server process looks for jobs that wait, claims one, and starts a child for it: with the lowest
claim to the processor, and with a store of its own. So of several server processes one has a child
for a job. What it is told, it is told by its standard input, which ends with its parent: then it
stops after the batch that it is at, and another process goes on with the job.
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
from msgspec import Struct

from idp.config.settings import Config
from idp.foundation import logs
from idp.records.jobs import JOBS
from idp.server import import_worker
from idp.service import Service
from idp.start import bootstrap, exit_codes
from idp.transfer.jobs import lifecycle as job_lifecycle
from idp.transfer.jobs import runner as job_runner
from idp.transfer.jobs import workers
from idp.transfer.jobs.lifecycle import Hold, Lost, NotStarted
from storage import StorageError

LOOKS_EVERY_SECONDS: Final = 1.0
NICENESS: Final = 10
_RETRY_SECONDS: Final = 5.0  # after a child that failed
# Without -P a module of the same name in the working directory would be run instead.
COMMAND: Final = (sys.executable, "-P", "-m", "idp.server.import_process")
_BEGUN: Final = b"begun\n"  # what a child writes once its modules are loaded

_log: Final = logs.logger(__name__)


class ImportAssignment(Struct, frozen=True):
    """What a child is told: the settings, and the job that was claimed for it, by whose name."""

    config: Config
    job_id: str
    holder: str


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
                # `wait_for` swallows cancellations.
                async with asyncio.timeout(LOOKS_EVERY_SECONDS):
                    await self._woken.wait()
            self._woken.clear()
            try:
                if is_alone:  # nobody else can open the store
                    await job_runner.work_due(self._service)
                elif (errand := await self._claimed()) is not None:
                    await self._run_child(errand)
            except (StorageError, OSError) as error:
                _log.warning("imports wait", error=str(error))
                await asyncio.sleep(_RETRY_SECONDS)

    async def _claimed(self) -> ImportAssignment | None:
        """The oldest job that waits; None: there is none, or another process was faster."""
        service, holder = self._service, self._service.random.id()
        job = await job_lifecycle.due(service)
        if job is None or await job_lifecycle.claim(service, job, holder) is None:
            return None
        return ImportAssignment(service.config, job.id, holder)

    async def _run_child(self, errand: ImportAssignment) -> None:
        """A child's whole life. Who is cancelled lets it finish its batch."""
        child = await asyncio.create_subprocess_exec(
            *COMMAND,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            start_new_session=True,  # a terminal's Ctrl-C spares it; its parent lets it know
        )
        pipe, output = child.stdin, child.stdout
        if pipe is None or output is None:
            raise RuntimeError("a child without input or output")
        try:
            pipe.write(msgspec.json.encode(errand) + b"\n")
            with suppress(ConnectionError):
                await pipe.drain()
            has_begun = await output.readline() == _BEGUN
            code = await child.wait()
        finally:
            pipe.close()
            await _ended(child, self._service.config.drain_seconds)
        if code != exit_codes.OK:
            _log.error("a process for imports failed", exit_code=code, has_begun=has_begun)
            if code > 0 and not has_begun:  # a signal says nothing about the next attempt
                await self._fail(errand, code)
            await asyncio.sleep(_RETRY_SECONDS)

    async def _fail(self, errand: ImportAssignment, code: int) -> None:
        """End a job whose child could not start, unless another process works on it by now.

        Raises StorageError.
        """
        job = await self._service.store.get(JOBS, errand.job_id)
        if job is None or job.holder != errand.holder:
            return
        reason = (
            f"the process that was to work on it ended with exit code {code} before it had begun;"
            " the service's log says why"
        )
        with suppress(Lost):
            await Hold(self._service, job).end("failed", NotStarted.slug, reason)


async def _ended(child: Process, patience_seconds: float) -> None:
    """Let a child finish its batch; what it is at otherwise bears being cut off."""
    with suppress(TimeoutError):
        await asyncio.wait_for(child.wait(), patience_seconds)
    if child.returncode is None:
        child.kill()
        await child.wait()


def main() -> int:
    """Work on a job, and on those that wait then, until there are none or the parent is gone."""
    os.nice(NICENESS)
    errand = msgspec.json.decode(sys.stdin.buffer.readline(), type=ImportAssignment)
    _tell_begun()
    is_over = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: is_over.set())
    threading.Thread(target=_await_end, args=(is_over,), daemon=True).start()
    with import_worker.settled_in():
        return exit_codes.guarded(lambda: asyncio.run(_work(errand, is_over.is_set)))


def _tell_begun() -> None:
    """Write that this process works, then leave the pipe: what is printed later goes to stderr."""
    with suppress(OSError):  # when the parent is gone, the input has ended, too
        os.write(1, _BEGUN)
        os.dup2(2, 1)


def _await_end(is_over: threading.Event) -> None:
    """Note when the parent's end of the pipe is closed."""
    os.read(sys.stdin.fileno(), 1)
    is_over.set()


async def _work(errand: ImportAssignment, is_to_leave: Callable[[], bool]) -> None:
    service = await bootstrap.open_service(errand.config, must_exist=True)
    try:
        job = await service.store.get(JOBS, errand.job_id)
        if job is not None and job.holder == errand.holder:
            hold = Hold(service, job)
            await job_runner.work(service, hold, helpers=workers.spare(), is_to_leave=is_to_leave)
        await job_runner.work_due(service, helpers=workers.spare(), is_to_leave=is_to_leave)
    finally:
        await bootstrap.close_service(service)


if __name__ == "__main__":
    sys.exit(main())
