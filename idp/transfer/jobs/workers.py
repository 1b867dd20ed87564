"""The processes that help with a large import, as the process that holds the job sees them.

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

WORTH_BYTES: Final = 2 * 1024 * 1024  # a smaller package is stored before a process has started
MAX_WORKERS: Final = 3
# Without -P a module of the same name in the working directory would be run instead.
COMMAND: Final = (sys.executable, "-P", "-m", "idp.server.import_worker")
_PATIENCE_SECONDS: Final = 10.0

_log: Final = logs.logger(__name__)

T = TypeVar("T")


def spare() -> int:
    """Returns how many processes can help with an import: one per processor that this process does
    not use itself, within a limit.
    """
    return min(cpu.count() - 1, MAX_WORKERS)


def worth_starting(service: Service, job: Job, size: int, count: int) -> int:
    """Returns how many processes are to help with a job: `count`, or 0 if its package of `size`
    bytes is too small for that, or its records exist only in this process (a dry run, or a store
    in memory).
    """
    # The overlay of a dry run, and a store in memory, exist in one process only.
    is_alone = job.options.is_dry_run or service.config.is_in_memory
    return 0 if is_alone or size < WORTH_BYTES else count


@asynccontextmanager
async def joining(context: ImportContext, count: int) -> AsyncIterator[list[BatchWorker]]:
    """Starts `count` processes that help with an import, and provides the list of the workers that
    represent them in this process: each is in the list while its process is ready. The processes
    end with the block.
    """
    workers: list[BatchWorker] = []
    helping = [asyncio.ensure_future(_help(context, workers)) for _ in range(count)]
    try:
        yield workers
    finally:
        for task in helping:
            task.cancel()
        await asyncio.gather(*helping, return_exceptions=True)


async def _help(context: ImportContext, workers: list[BatchWorker]) -> None:
    """Starts a process and keeps its worker in `workers` while it runs."""
    try:
        async with _process() as connection:
            helper = _Worker(*connection)
            if await helper.begin(context):
                workers.append(helper)
                await helper.listen()
                workers.remove(helper)
                _log.warning("an import goes on with one process less")
    except (OSError, StorageError) as error:
        _log.warning("an import does without another process", error=str(error))


@asynccontextmanager
async def _process() -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """Provides the connection to a child process that ends with it.

    The child has a session of its own, so that Ctrl-C in a terminal does not reach it.
    """
    ours, theirs = socket.socketpair()
    with theirs:
        child = await asyncio.create_subprocess_exec(
            *COMMAND, stdin=theirs.fileno(), start_new_session=True
        )
    reader, writer = await asyncio.open_unix_connection(sock=ours)
    try:
        yield reader, writer
    finally:
        writer.close()
        await _ended(child)
        if child.returncode:
            _log.warning("a process that helps with imports failed", exit_code=child.returncode)


async def _ended(child: Process) -> None:
    with suppress(TimeoutError):
        await asyncio.wait_for(child.wait(), _PATIENCE_SECONDS)
    if child.returncode is None:
        child.kill()
        await child.wait()


class _Worker:
    """The worker in another process."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._waiting: asyncio.Future[None] | None = None
        self._outcomes: OutcomesFuture | None = None
        self._has_ended = False

    async def begin(self, context: ImportContext) -> bool:
        """Sends the job that it helps with; returns whether it is ready.

        Raises ConnectionError.
        """
        await worker_messages.send(
            self._writer, WorkerAssignment(context.service.config, context.job)
        )
        return await worker_messages.receive(self._reader, WorkerReply) is not None

    async def listen(self) -> None:
        """Processes its replies until it has ended."""
        try:
            while (reply := await worker_messages.receive(self._reader, WorkerReply)) is not None:
                self._process_reply(reply)
        finally:
            self._has_ended = True
            self._give_up(_gone())

    async def plan(self, rows: Sequence[Row]) -> None:
        """Plans rows as `BatchWorker.plan` does.

        Raises Unavailable also when the process has ended.
        """
        await self._carried_out(WorkerCommand(rows))

    async def store(self) -> OutcomesFuture:
        """Stores rows as `BatchWorker.store` does.

        Raises Unavailable also when the process has ended.
        """
        await self._carried_out(WorkerCommand())
        assert self._outcomes is not None  # noqa: S101 - it was stored
        return self._outcomes

    async def _carried_out(self, command: WorkerCommand) -> None:
        if self._has_ended:
            raise _gone()
        self._waiting = asyncio.get_running_loop().create_future()
        try:
            await worker_messages.send(self._writer, command)
        except ConnectionError as error:
            self._waiting = None
            raise _gone() from error
        await self._waiting

    def _process_reply(self, reply: WorkerReply) -> None:
        if reply.is_broken:
            self._give_up(RuntimeError("a worker failed; its own log says how"))
        elif reply.failure is not None:
            self._fail(Unavailable(reply.failure))
        elif reply.outcomes is not None:
            _end(self._outcomes, reply.outcomes)
        else:
            if reply.is_stored:
                self._outcomes = asyncio.get_running_loop().create_future()
            _end(self._waiting, None)

    def _fail(self, error: Exception) -> None:
        """Fails the outcomes that are still outstanding, else the current command.

        Outcomes of one batch are always sent before the next reply.
        """
        if self._outcomes is None or self._outcomes.done():
            _end(self._waiting, error)
        else:
            _end(self._outcomes, error)

    def _give_up(self, error: Exception) -> None:
        _end(self._waiting, error)
        _end(self._outcomes, error)


def _end(future: asyncio.Future[T] | None, outcome: T | Exception) -> None:
    """Completes the future, if it is still awaited."""
    if future is None or future.done():
        return
    if isinstance(outcome, Exception):
        future.set_exception(outcome)
    else:
        future.set_result(outcome)


def _gone() -> Unavailable:
    return Unavailable("a process that helped has ended")
