"""A second process over the same store: reads orders line by line, answers each with a line."""

from __future__ import annotations

import asyncio
import sys
import uuid
from datetime import UTC, datetime

from storage import Store, open_store
from tests.storage.contests import CONTESTS
from tests.storage.records import ALL


async def main(url: str) -> None:
    store = open_store(url, now=lambda: datetime.now(UTC), new_id=lambda: uuid.uuid4().hex)
    await store.open(ALL)
    try:
        await _obey(store)
    finally:
        await store.close()


async def _obey(store: Store) -> None:
    loop = asyncio.get_running_loop()
    while order := (await loop.run_in_executor(None, sys.stdin.readline)).split():
        answer = await CONTESTS[order[0]](store, *order[1:]) if order[0] in CONTESTS else order[0]
        print(answer, flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
