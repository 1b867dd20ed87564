"""The messages between a job and the processes that plan its rows."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final, TypeVar

import msgspec
from msgspec import Struct, field

from idp.config.settings import Config
from idp.records.jobs import Job
from idp.transfer.jobs.batches import ProcessedRow
from idp.transfer.package.rows import Row

_LENGTH_BYTES: Final = 4

M = TypeVar("M")


class WorkerAssignment(Struct, frozen=True):
    """The first message to a worker process: the service's settings, and the job that the process
    helps with.
    """

    config: Config
    job: Job


class WorkerCommand(Struct, frozen=True):
    """A command to a worker process: to plan `rows`, or if `rows` is None to store the rows
    planned last.
    """

    rows: Sequence[Row] | None = None


class WorkerReply(Struct, frozen=True):
    """The reply of a worker process to a command; the first one, before any command, states that
    it is ready.

    A command to plan has one reply. A command to store has two: the first, which `is_stored`, when
    the rows are stored; the second with the `outcomes` of the rows, without their documents. A
    reply with `failure`, the text of a StorageError, or with `is_broken`, for an unexpected error,
    takes the place of either.
    """

    is_stored: bool = False
    # Encoded as in the previous release.
    outcomes: list[ProcessedRow] | None = field(default=None, name="settled")
    failure: str | None = None
    is_broken: bool = False


async def send(writer: asyncio.StreamWriter, message: Struct) -> None:
    """Writes a message, preceded by its length. Raises ConnectionError."""
    data = msgspec.json.encode(message)
    writer.write(len(data).to_bytes(_LENGTH_BYTES, "big") + data)
    await writer.drain()


async def receive(reader: asyncio.StreamReader, message_type: type[M]) -> M | None:
    """Returns the next message, decoded as `message_type`; None when the peer has closed
    the connection.
    """
    try:
        length = await reader.readexactly(_LENGTH_BYTES)
        data = await reader.readexactly(int.from_bytes(length, "big"))
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    return msgspec.json.decode(data, type=message_type)
