"""A process that helps with an import: it plans and stores batches on command.

Commands arrive over a socket, its standard input; when that is closed, the process ends
immediately. The units that it has stored by then are treated like those of any interrupted batch.
"""

from __future__ import annotations

import asyncio
import gc
import socket
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from typing import Final

from msgspec import structs

from idp.foundation import logs, standard_streams
from idp.start import bootstrap, exit_codes, master_keys
from idp.transfer.jobs.batches import ProcessedRow
from idp.transfer.jobs.pipeline import BatchWorker, LocalBatchWorker
from idp.transfer.jobs.worker_messages import (
    WorkerAssignment,
    WorkerCommand,
    WorkerReply,
    receive,
    send,
)
from idp.transfer.kinds.kind import ImportContext
from storage import StorageError

_COLLECTION_THRESHOLD: Final = 400_000  # new objects before a collection; a few thousand rows
_SWITCH_SECONDS: Final = 0.0005  # at most, while another thread waits for the interpreter lock

_log: Final = logs.logger(__name__)


@contextmanager
def tuned_for_rows() -> Iterator[None]:
    """Within the block, the interpreter is tuned for very many rows, whose records last as long as
    their batch.

    The garbage collector examines the objects of a batch only, not all existing ones again and
    again, which cost a fifth of the processor's time. The thread that writes gets the interpreter
    lock sooner: while it waits for the lock, no process can store.
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
    """Runs as the helping process: serves commands until the connection is closed. Returns the
    exit code."""
    standard_streams.secure()
    connection = socket.socket(fileno=sys.stdin.fileno())
    with tuned_for_rows():
        return exit_codes.guarded(lambda: asyncio.run(_assist(connection)))


async def _assist(connection: socket.socket) -> None:
    reader, writer = await asyncio.open_unix_connection(sock=connection)
    assignment = await receive(reader, WorkerAssignment)
    if assignment is None:
        return
    service = await bootstrap.open_service(assignment.config, must_exist=True)
    try:
        with suppress(ConnectionError):  # the other process may have ended by now
            await send(writer, WorkerReply())  # the first reply: the store is open
            worker = LocalBatchWorker(ImportContext(service, assignment.job))
            async with master_keys.following(service):
                await _serve(worker, reader, writer)
    finally:
        await bootstrap.close_service(service)


async def _serve(
    worker: BatchWorker, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Carries out commands until the connection is closed, which cancels the last one."""
    commands: asyncio.Queue[WorkerCommand] = asyncio.Queue()

    async def work() -> None:
        while True:
            async for reply in _carry_out(worker, await commands.get()):
                await send(writer, reply)

    task = asyncio.ensure_future(work())
    while (command := await receive(reader, WorkerCommand)) is not None:
        commands.put_nowait(command)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def _carry_out(worker: BatchWorker, command: WorkerCommand) -> AsyncIterator[WorkerReply]:
    try:
        if command.rows is not None:
            await worker.plan(command.rows)
            yield WorkerReply()
        else:
            outcomes = await worker.store()
            yield WorkerReply(is_stored=True)
            yield WorkerReply(outcomes=[_without_document(row) for row in await outcomes])
    except StorageError as error:
        yield WorkerReply(failure=str(error))
    except Exception as error:  # reported to the process that holds the job, which fails
        _log.error("a worker failed", exc_info=error)
        yield WorkerReply(is_broken=True)


def _without_document(processed: ProcessedRow) -> ProcessedRow:
    """Returns the outcome without the row's document, which the receiver has already."""
    return structs.replace(processed, row=structs.replace(processed.row, document=None))


if __name__ == "__main__":
    sys.exit(main())
