"""A process that writes to SQLite for a while, on a disk whose fsync takes two milliseconds.

`python -m tests.storage.fire.turns URL SECONDS [unlocked]`: says `ready`, begins at a line from
stdin, says how many times it committed and the longest that one of its callers waited. `unlocked`
takes the turns away once the file is open.
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import sys
import time
import uuid
from datetime import UTC, datetime

from storage import Insert
from storage.sqlite import SqliteStore
from storage.sqlite.locks import FileLock
from tests.storage.records import ALL, ENTRIES, Entry

FSYNC_SECONDS = 0.002
CALLERS = 16


class SlowConnection(sqlite3.Connection):
    commits = 0

    def execute(self, sql, *values):
        if sql == "COMMIT":
            SlowConnection.commits += 1
            time.sleep(FSYNC_SECONDS)
        return super().execute(sql, *values)


def connect(*args, **options):
    return sqlite3.connect(*args, factory=SlowConnection, **options)


async def main(url: str, seconds: float) -> None:
    store = SqliteStore(
        url.removeprefix("sqlite:///"),
        now=lambda: datetime.now(UTC),
        new_id=lambda: uuid.uuid4().hex,
        connect=connect,
    )
    await store.open(ALL)
    if "unlocked" in sys.argv:
        FileLock.held = lambda self: contextlib.nullcontext()  # type: ignore[method-assign]
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    SlowConnection.commits = 0
    end = time.monotonic() + seconds
    waits = await asyncio.gather(*(_write(store, end) for _ in range(CALLERS)))
    print(SlowConnection.commits, max(waits), flush=True)
    await store.close()


async def _write(store: SqliteStore, end: float) -> float:
    """The longest wait of one caller."""
    longest = 0.0
    while (began := time.monotonic()) < end:
        await store.commit(Insert(ENTRIES, Entry(id=uuid.uuid4().hex)))
        longest = max(longest, time.monotonic() - began)
    return longest


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], float(sys.argv[2])))
