"""The stores to measure, each with a raw driver on the same data."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from statistics import median
from typing import Final

from benchmarks.storage import comparisons, records
from benchmarks.storage.contract import Contract
from benchmarks.storage.raw_mongo import RawMongo
from benchmarks.storage.raw_sqlite import RawSqlite
from benchmarks.storage.rounds import Comparison
from idp.foundation.clock import SystemClock
from idp.foundation.randomness import SystemRandom
from storage import Store, open_store
from tests.support.servers.mongod import fresh_database, replica_set

# Where a disk is, most of the time; /tmp may be memory, whose commits cost nothing.
ON_DISK: Final = Path("/var/tmp")
BACK_ENDS: Final = ("sqlite", "pymongo", "motor")


@asynccontextmanager
async def comparing(back_end: str, place: str | Path) -> AsyncIterator[list[Comparison]]:
    """Returns the comparisons of a back end: on a file in a directory, or on a server at a URL."""
    if back_end == "sqlite":
        path = Path(place) / "store.sqlite3"
        async with _filled(f"sqlite:///{path}") as store:
            raw = RawSqlite(path)
            yield comparisons.of_sqlite(Contract(store), raw)
            raw.close()
        return
    with fresh_database(str(place)) as url:
        joined = f"{url}{'&' if '?' in url else '?'}driver={back_end}"
        async with _filled(joined) as store:
            client = RawMongo(back_end, url)
            yield comparisons.of_mongodb(Contract(store), client)
            await client.close()


@asynccontextmanager
async def _filled(url: str) -> AsyncIterator[Store]:
    store = open_store(url, now=SystemClock().now, new_id=SystemRandom().id)
    await store.open(records.ALL)
    try:
        await records.fill(store)
        yield store
    finally:
        await store.close()


@contextmanager
def directory(parent: Path | None) -> Iterator[Path]:
    """Returns a context with a temporary directory, by default on a disk."""
    parent = parent or (ON_DISK if os.access(ON_DISK, os.W_OK) else None)
    with tempfile.TemporaryDirectory(prefix="store-benchmark-", dir=parent) as made:
        yield Path(made)


@contextmanager
def server(url: str | None) -> Iterator[str]:
    """Returns a context with the URL of a replica set: the given one, or one that is started for
    it and takes as much memory as MongoDB does by default."""
    if url is not None:
        yield url
        return
    with replica_set(takes_room=True) as started:
        yield started.url


def sync_microseconds(place: Path) -> float:
    """Returns the microseconds that the disk takes to sync 4 KiB, which is the least that a commit
    takes."""
    took = []
    with (place / "probe").open("wb", buffering=0) as file:
        for _ in range(50):
            file.write(bytes(4096))
            began = time.perf_counter()
            os.fdatasync(file.fileno())
            took.append(time.perf_counter() - began)
    return median(took) * 1e6
