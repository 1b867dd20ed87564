"""The processes that help with a large import, on the side of the process that holds the job.

They join when they are ready, and the job does not wait for them; when one ends, its batch is
planned again by the others.
"""

from __future__ import annotations

import asyncio
import socket
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Final, TypeVar

from idp.foundation import cpu, logs
from idp.records.jobs import Job
from idp.service import Service
from idp.transfer.jobs import worker_messages
from idp.transfer.jobs.pipeline import BatchWorker, OutcomesFuture
from idp.transfer.jobs.worker_messages import WorkerAssignment, WorkerCommand, WorkerReply
from idp.transfer.kinds.kind import ImportContext
from idp.transfer.package.rows import Row
from storage import StorageError, Unavailable

MIN_PACKAGE_BYTES: Final = (
    2 * 1024 * 1024
)  # a smaller package is stored before a process has started
MAX_WORKERS: Final = 3
# Without -P a module of the same name in the working directory would be run instead.
COMMAND: Final = (sys.executable, "-P", "-m", "idp.server.import_worker")
_EXIT_TIMEOUT_SECONDS: Final = 10.0

_log: Final = logs.logger(__name__)

T = TypeVar("T")


def available_count() -> int:
    """Returns how many processes can help with an import: one per processor that this process does
    not use itself, within a limit.
    """
    return min(cpu.count() - 1, MAX_WORKERS)


def helper_count(service: Service, job: Job, size: int, count: int) -> int:
    """Returns how many processes help with a job: `count`, or 0 if its package of `size` bytes is
    too small, or its records exist only in this process (a dry run, or a store in memory).
    """
    # The overlay of a dry run, and a store in memory, exist in one process only.
    is_single_process = job.options.is_dry_run or service.config.is_in_memory
    return 0 if is_single_process or size < MIN_PACKAGE_BYTES else count


@asynccontextmanager
async def started_workers(context: ImportContext, count: int) -> AsyncIterator[list[BatchWorker]]:
    """Starts `count` processes that help with an import, and provides the list of the workers that
    represent them in this process: each is in the list while its process is ready. The processes
    end with the block.
    """
    workers: list[BatchWorker] = []
    tasks = [asyncio.ensure_future(_run_worker(context, workers)) for _ in range(count)]
    try:
        yield workers
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _run_worker(context: ImportContext, workers: list[BatchWorker]) -> None:
    """Starts a process and keeps its worker in `workers` while it runs."""
    try:
        async with _process() as connection:
            worker = _Worker(*connection)
            if await worker.begin(context):
                workers.append(worker)
                await worker.listen()
                workers.remove(worker)
                _log.warning("a process that helped with an import has ended")
    except (OSError, StorageError) as error:
        _log.warning("a process to help with an import was not started", error=str(error))


@asynccontextmanager
async def _process() -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """Provides the connection to a child process that ends with it.

    The child has a session of its own, so that Ctrl-C in a terminal does not reach it.
    """
    parent_socket, child_socket = socket.socketpair()
    with child_socket:
        child = await asyncio.create_subprocess_exec(
            *COMMAND, stdin=child_socket.fileno(), start_new_session=True
        )
    reader, writer = await asyncio.open_unix_connection(sock=parent_socket)
    try:
        yield reader, writer
    finally:
        writer.close()
        await _await_exit(child)
        if child.returncode:
            _log.warning("a process that helps with imports failed", exit_code=child.returncode)


async def _await_exit(child: Process) -> None:
    with suppress(TimeoutError):
        await asyncio.wait_for(child.wait(), _EXIT_TIMEOUT_SECONDS)
    if child.returncode is None:
        child.kill()
        await child.wait()


class _Worker:
    """The worker in another process."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._pending: asyncio.Future[None] | None = None
        self._outcomes: OutcomesFuture | None = None
        self._has_ended = False

    async def begin(self, context: ImportContext) -> bool:
        """Sends the job to the worker; returns whether the worker is ready.

        Raises ConnectionError.
        """
        await worker_messages.send(
            self._writer, WorkerAssignment(context.service.config, context.job)
        )
        return await worker_messages.receive(self._reader, WorkerReply) is not None

    async def listen(self) -> None:
        """Processes the replies of the worker until its process has ended."""
        try:
            while (reply := await worker_messages.receive(self._reader, WorkerReply)) is not None:
                self._process_reply(reply)
        finally:
            self._has_ended = True
            self._fail_all(_ended_unexpectedly())

    async def plan(self, rows: Sequence[Row]) -> None:
        """Plans rows as `BatchWorker.plan` does.

        Raises Unavailable also when the process has ended.
        """
        await self._execute(WorkerCommand(rows))

    async def store(self) -> OutcomesFuture:
        """Stores rows as `BatchWorker.store` does.

        Raises Unavailable also when the process has ended.
        """
        await self._execute(WorkerCommand())
        assert self._outcomes is not None  # noqa: S101 - it was stored
        return self._outcomes

    async def _execute(self, command: WorkerCommand) -> None:
        if self._has_ended:
            raise _ended_unexpectedly()
        self._pending = asyncio.get_running_loop().create_future()
        try:
            await worker_messages.send(self._writer, command)
        except ConnectionError as error:
            self._pending = None
            raise _ended_unexpectedly() from error
        await self._pending

    def _process_reply(self, reply: WorkerReply) -> None:
        if reply.is_broken:
            self._fail_all(RuntimeError("a worker failed; see its own log"))
        elif reply.failure is not None:
            self._fail(Unavailable(reply.failure))
        elif reply.outcomes is not None:
            _end(self._outcomes, reply.outcomes)
        else:
            if reply.is_stored:
                self._outcomes = asyncio.get_running_loop().create_future()
            _end(self._pending, None)

    def _fail(self, error: Exception) -> None:
        """Fails the outcomes that are still outstanding, else the current command.

        Outcomes of one batch are always sent before the next reply.
        """
        if self._outcomes is None or self._outcomes.done():
            _end(self._pending, error)
        else:
            _end(self._outcomes, error)

    def _fail_all(self, error: Exception) -> None:
        _end(self._pending, error)
        _end(self._outcomes, error)


def _end(future: asyncio.Future[T] | None, outcome: T | Exception) -> None:
    """Completes the future, if it is still awaited."""
    if future is None or future.done():
        return
    if isinstance(outcome, Exception):
        future.set_exception(outcome)
    else:
        future.set_result(outcome)


def _ended_unexpectedly() -> Unavailable:
    return Unavailable("a process that helped has ended")
