"""The messages between a job and the processes that plan its rows."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final, TypeVar

import msgspec
from msgspec import Struct

from idp.config.settings import Config
from idp.records.jobs import Job
from idp.transfer.jobs.batches import Settled
from idp.transfer.package.rows import Row

_LENGTH_OCTETS: Final = 4

M = TypeVar("M")


class Engagement(Struct, frozen=True):
    """What a worker is told first: the settings, and the job that it helps with."""

    config: Config
    job: Job


class Order(Struct, frozen=True):
    """What is to be done: these rows judged, or what was judged last stored."""

    rows: Sequence[Row] | None = None


class WorkerReply(Struct, frozen=True):
    """That it was done. After one that `is_stored` a second tells what became of each row, without
    documents, or why not. `failure` is the store's, `is_broken` says that something failed that
    must not."""

    is_stored: bool = False
    settled: list[Settled] | None = None
    failure: str | None = None
    is_broken: bool = False


async def send(writer: asyncio.StreamWriter, message: Struct) -> None:
    """Write a message. Raises ConnectionError."""
    octets = msgspec.json.encode(message)
    writer.write(len(octets).to_bytes(_LENGTH_OCTETS, "big") + octets)
    await writer.drain()


async def receive(reader: asyncio.StreamReader, kind: type[M]) -> M | None:
    """The next message; None when the other end is gone."""
    try:
        length = await reader.readexactly(_LENGTH_OCTETS)
        octets = await reader.readexactly(int.from_bytes(length, "big"))
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    return msgspec.json.decode(octets, type=kind)
