"""Imports in a separate process, so that they do not delay requests.

A server process checks for waiting jobs, claims one, and starts a child for it, with the lowest
priority and a store connection of its own. So only one of several server processes has a child for
a job. The child receives its assignment over its standard input, which is closed when its parent
ends: it then stops after the current batch, and another process continues the job.
"""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import socket
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Final, Self

import msgspec
from msgspec import Struct

from idp.config import loading
from idp.config.settings import Config
from idp.foundation import logs, standard_streams
from idp.records.jobs import JOBS
from idp.service import Service
from idp.start import bootstrap, exit_codes, master_keys
from idp.transfer.jobs import lifecycle as job_lifecycle
from idp.transfer.jobs import runner as job_runner
from idp.transfer.jobs.lifecycle import Hold, HoldLost, NotStarted
from storage import StorageError

POLL_SECONDS: Final = 1.0
NICENESS: Final = 10
_RETRY_SECONDS: Final = 5.0  # pause after a child that failed
# Without -P a module of the same name in the working directory would be run instead.
COMMAND: Final = (sys.executable, "-P", "-m", "idp.server.import_process")
_COLLECTION_THRESHOLD: Final = 400_000  # new objects before a collection; a few thousand rows
_SWITCH_SECONDS: Final = 0.0005  # at most, while another thread waits for the interpreter lock
_BEGUN: Final = b"begun\n"  # the line that a child writes once its modules are loaded

_log: Final = logs.logger(__name__)


class ImportAssignment(Struct, frozen=True):
    """The assignment of a child: the settings, the id of the job that was claimed for it, and
    `holder`, the name under which the job was claimed."""

    config: Config
    job_id: str
    holder: str


class Importer:
    """Starts a child process for each waiting job, one at a time. A store in memory belongs to one
    process, which then works on the jobs itself."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._wake_up = asyncio.Event()

    def wake(self) -> None:
        """Makes the importer check for a waiting job now, not only at its next regular check."""
        self._wake_up.set()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Returns a context within which waiting jobs are worked on in the background."""
        task = asyncio.create_task(self._work_on_jobs())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _work_on_jobs(self) -> None:
        is_in_memory = self._service.config.is_in_memory
        while True:
            with suppress(TimeoutError):
                # `wait_for` can lose a cancellation.
                async with asyncio.timeout(POLL_SECONDS):
                    await self._wake_up.wait()
            self._wake_up.clear()
            try:
                if is_in_memory:  # a store in memory belongs to this process
                    await job_runner.work_due(self._service)
                elif (assignment := await self._claim_next()) is not None:
                    await self._run_child(assignment)
            except (StorageError, OSError) as error:
                _log.warning("imports are paused", error=str(error))
                await asyncio.sleep(_RETRY_SECONDS)

    async def _claim_next(self) -> ImportAssignment | None:
        """Returns the oldest waiting job; None if there is none, or another process was faster."""
        service, holder = self._service, self._service.random.id()
        job = await job_lifecycle.next_job(service)
        if job is None or await job_lifecycle.claim(service, job, holder) is None:
            return None
        return ImportAssignment(service.config, job.id, holder)

    async def _run_child(self, assignment: ImportAssignment) -> None:
        """Runs a child until it ends. A cancellation lets it finish its batch."""
        child = await _Child.start()
        try:
            await child.send(msgspec.json.encode(assignment) + b"\n")
            has_begun = await child.read_line() == _BEGUN
            await child.wait_until_ended()
        finally:
            code = await child.close(self._service.config.drain_seconds)
        if code != exit_codes.OK:
            _log.error("a process for imports failed", exit_code=code, has_begun=has_begun)
            if code > 0 and not has_begun:  # an end by a signal may not recur
                await self._fail(assignment, code)
            await asyncio.sleep(_RETRY_SECONDS)

    async def _fail(self, assignment: ImportAssignment, code: int) -> None:
        """Ends a job whose child could not start, unless another process holds it now.

        Raises StorageError.
        """
        job = await self._service.store.get(JOBS, assignment.job_id)
        if job is None or job.holder != assignment.holder:
            return
        reason = (
            f"the process that was to work on it ended with exit code {code} before it had begun;"
            " the service's log says why"
        )
        with suppress(HoldLost):
            await Hold(self._service, job).end("failed", NotStarted.error_code, reason)


class _Child:
    """A child process, and the connection that is its standard input and output.

    It is not started by the event loop: uvloop would run the hooks of a fork in it, and that of
    MongoDB's driver fails there and prints a traceback.
    """

    def __init__(
        self, pid: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._pid = pid
        self._reader = reader
        self._writer = writer

    @classmethod
    async def start(cls) -> Self:
        """Returns a new child. Raises OSError."""
        own_end, child_end = socket.socketpair()
        try:
            with child_end:
                pid = _spawn(child_end.fileno())
        except OSError:
            own_end.close()
            raise
        return cls(pid, *await asyncio.open_unix_connection(sock=own_end))

    async def send(self, data: bytes) -> None:
        with suppress(ConnectionError):  # it has ended already
            self._writer.write(data)
            await self._writer.drain()

    async def read_line(self) -> bytes:
        """Returns the next line of its output; an empty one if it has ended."""
        with suppress(ConnectionError):
            return await self._reader.readline()
        return b""

    async def wait_until_ended(self) -> None:
        """Returns when it has ended."""
        with suppress(ConnectionError):
            while await self._reader.read(4096):
                pass

    async def close(self, timeout_seconds: float) -> int:
        """Closes its input, lets it finish its batch within the time limit, then kills it: a batch
        may be interrupted anywhere. Returns its exit code, negative after a signal."""
        with suppress(OSError):
            self._writer.write_eof()
        try:
            await asyncio.wait_for(self.wait_until_ended(), timeout_seconds)
        except TimeoutError:
            os.kill(self._pid, signal.SIGKILL)
        self._writer.close()
        _, status = await asyncio.to_thread(os.waitpid, self._pid, 0)
        return os.waitstatus_to_exitcode(status)


def _spawn(descriptor: int) -> int:
    """Starts a child with this descriptor as its input and output; returns its process id. Raises
    OSError."""
    streams = [(os.POSIX_SPAWN_DUP2, descriptor, number) for number in (0, 1)]
    # Ctrl-C in a terminal reaches only the parent, which closes the connection.
    environment = loading.environment_for_children()
    return os.posix_spawn(COMMAND[0], COMMAND, environment, file_actions=streams, setsid=True)


@contextmanager
def tuned_for_rows() -> Iterator[None]:
    """Within the block, the interpreter is tuned for very many rows, whose records last as long as
    their batch.

    The garbage collector examines the objects of a batch only, not all existing ones again and
    again, which cost a fifth of the processor's time. The thread that writes gets the interpreter
    lock sooner: while it waits for the lock, nothing is stored.
    """
    thresholds, switch_interval = gc.get_threshold(), sys.getswitchinterval()
    gc.freeze()
    gc.set_threshold(_COLLECTION_THRESHOLD)
    sys.setswitchinterval(_SWITCH_SECONDS)
    try:
        yield
    finally:
        sys.setswitchinterval(switch_interval)
        gc.set_threshold(*thresholds)
        gc.unfreeze()


def main() -> int:
    """Runs as the child: works on the job of the assignment on standard input, then on other
    waiting jobs, until there are none or the parent has ended. Returns the exit code."""
    standard_streams.secure()
    os.nice(NICENESS)
    assignment = msgspec.json.decode(sys.stdin.buffer.readline(), type=ImportAssignment)
    _report_begun()
    is_over = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: is_over.set())
    threading.Thread(target=_await_parent_end, args=(is_over,), daemon=True).start()
    with tuned_for_rows():
        return exit_codes.guarded(lambda: asyncio.run(_work(assignment, is_over.is_set)))


def _report_begun() -> None:
    """Reports that the process has started.

    Standard output is then redirected to stderr, since the parent reads no more of the pipe.
    """
    with suppress(OSError):  # the parent has ended, and so has the input
        os.write(1, _BEGUN)
        os.dup2(2, 1)


def _await_parent_end(is_over: threading.Event) -> None:
    """Sets the flag when the parent's end of the pipe is closed."""
    os.read(sys.stdin.fileno(), 1)
    is_over.set()


async def _work(assignment: ImportAssignment, is_stopping: Callable[[], bool]) -> None:
    service = await bootstrap.open_service(assignment.config, must_exist=True)
    try:
        async with master_keys.following(service):
            await _work_on_jobs(service, assignment, is_stopping)
    finally:
        await bootstrap.close_service(service)


async def _work_on_jobs(
    service: Service, assignment: ImportAssignment, is_stopping: Callable[[], bool]
) -> None:
    job = await service.store.get(JOBS, assignment.job_id)
    if job is not None and job.holder == assignment.holder:
        hold = Hold(service, job)
        await job_runner.work(service, hold, is_stopping=is_stopping)
    await job_runner.work_due(service, is_stopping=is_stopping)


if __name__ == "__main__":
    sys.exit(main())
