"""The store that crashes does so where it was told, and nowhere else."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from datetime import timedelta

import pytest

from storage import Insert
from tests.storage.records import ENTRIES, Entry
from tests.support.programs import crashing

PROGRAM = """
import asyncio, datetime, itertools, sys
from storage import *
from tests.storage.records import ALL, ENTRIES, Entry
from tests.support.programs.crashing import crashing
ids = map(str, itertools.count())
async def main(url):
    store = crashing(open_store(url, now=lambda: datetime.datetime.now(datetime.UTC),
                     new_id=lambda: next(ids)))
    await store.open(ALL)
    for n in range(4):
        await store.commit(Insert(ENTRIES, Entry(id=str(n))))
    await store.close()
asyncio.run(main(sys.argv[1]))
"""


@pytest.mark.parametrize(("crash", "kept"), [("before 3", 2), ("after 3", 3), ("", 4)])
async def test_a_process_ends_before_or_after_the_write_that_it_was_given(
    sqlite, monkeypatch, crash, kept
):
    monkeypatch.setenv(crashing.CRASH_VARIABLE, crash)
    url = f"sqlite:///{sqlite._path}"
    process = await asyncio.to_thread(subprocess.run, [sys.executable, "-c", PROGRAM, url])

    assert process.returncode == (-signal.SIGKILL if crash else 0)
    assert await sqlite.count(ENTRIES) == kept


async def test_every_way_of_writing_counts(sqlite, monkeypatch):
    deaths = []
    monkeypatch.setattr(crashing, "die", lambda: deaths.append(store.writes))
    store = crashing.crashing(sqlite, "after 3")
    await store.commit(Insert(ENTRIES, Entry(id="a")))
    await store.commit_each([[Insert(ENTRIES, Entry(id="b"))]])
    await store.increment("k", window=timedelta(hours=1))
    await store.reset("k")

    assert (store.writes, deaths) == (4, [3])
    assert await store.count(ENTRIES) == 2
