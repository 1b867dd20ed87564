"""Killing writers, and holding what is found against what they acknowledged."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec import Struct

from storage import Store, open_store
from tests.storage.fire import script
from tests.storage.fire.writing import Order, lanes
from tests.storage.records import ALL


class End(Struct):
    """How a writer ended: what each lane had acknowledged, and what it said beside."""

    acknowledged: dict[str, int]
    said: list[str]
    code: int


class Tally(Struct):
    """What came of it. `faults` names each lost, doubled or half unit, and must be empty."""

    kills: int = 0
    acknowledged: int = 0
    in_doubt: int = 0
    in_doubt_applied: int = 0
    slowest_opening: float = 0.0
    faults: list[str] = []

    def __str__(self) -> str:
        return (
            f"{self.kills} kills, {self.acknowledged} acknowledged, {self.in_doubt} in doubt"
            f" ({self.in_doubt_applied} applied), {len(self.faults)} lost, double or half,"
            f" slowest opening {self.slowest_opening:.2f} s"
        )

    def count(self, end: End, progress: dict[str, int]) -> None:
        """A writer that was killed, and how far its lanes are found to have come."""
        self.kills += end.code == -signal.SIGKILL
        self.acknowledged += sum(end.acknowledged.values())
        if "opened" in end.said:
            self.in_doubt += len(progress)
            self.in_doubt_applied += sum(
                progress[lane] > k for lane, k in end.acknowledged.items()
            )


class Writers:
    """Writers, one after the other."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def begin(self, order: Order) -> int:
        """Start a writer; its process id."""
        self._process.stdin.write(msgspec.json.encode(order) + b"\n")
        self._process.stdin.flush()
        self._said: list[str] = []
        while not (line := self._line()).startswith("pid "):
            self._said.append(line)
        return int(line.split()[1])

    def wait_for(self, line: str) -> None:
        """Until the writer has said this."""
        while line not in self._said:
            self._said.append(self._line())

    def end(self, order: Order) -> End:
        """Wait for the writer's death."""
        while not (line := self._line()).startswith("dead "):
            self._said.append(line)
        acknowledged = dict.fromkeys(lanes(order), 0)
        for told in self._said:
            if told.startswith("done "):
                _, lane, n = told.split()
                acknowledged[lane] = int(n) + 1
        beside = [told for told in self._said if not told.startswith("done ")]
        return End(acknowledged, beside, int(line.split()[1]))

    def _line(self) -> str:
        line = self._process.stdout.readline().decode()
        assert line, "the begetter of writers has gone"
        return line.strip()


@contextmanager
def writers():
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.storage.fire.writing"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[3],
    )
    with process:
        yield Writers(process)


def killed(writers: Writers, order: Order, seconds: float) -> End:
    """Let a writer live so long."""
    pid = writers.begin(order)
    time.sleep(seconds)
    os.kill(pid, signal.SIGKILL)
    return writers.end(order)


@asynccontextmanager
async def reopened(url: str, tally: Tally):
    """The store, opened again after a kill."""
    store = open_store(url, now=lambda: datetime.now(UTC), new_id=lambda: uuid.uuid4().hex)
    began = time.monotonic()
    await store.open(ALL)
    tally.slowest_opening = max(tally.slowest_opening, time.monotonic() - began)
    try:
        yield store
    finally:
        await store.close()


async def judge(url: str, end: End, tally: Tally) -> dict[str, int]:
    """How far each lane has come in what a writer left. Faults go to the tally."""
    async with reopened(url, tally) as store:
        return await _judged(store, end, tally)


async def _judged(store: Store, end: End, tally: Tally) -> dict[str, int]:
    lanes = end.acknowledged.items()
    return {lane: await _judge_lane(store, lane, k, tally) for lane, k in lanes}


async def _judge_lane(store: Store, lane: str, k: int, tally: Tally) -> int:
    state = await script.found(store, lane, k)
    progress = script.progress(state, lane, k)
    if progress is None:
        tally.faults.append(f"{lane} after {k} steps: {state} is not {script.after(lane, k)}")
        return k
    in_doubt = script.Step(lane, k).as_unit()
    if in_doubt is not None and await store.applied(in_doubt) is not (progress > k):
        tally.faults.append(f"{lane} step {k}: its mark tells otherwise than its records")
    return progress


def random_kills(
    url: str,
    kills: int,
    seed: int,
    *,
    longest: float = 0.15,
    concurrency: int = 8,
    check: Callable[[], None] = lambda: None,
) -> Tally:
    """Kill so many writers at seeded instants, while they open or write in all their lanes.

    After each, what it left is judged, and `check` may look at the store's files; at the end,
    all lanes are judged again. Works on any store that another process can open.
    """
    tally = Tally()
    chance = random.Random(seed)
    ends: list[tuple[End, dict[str, int]]] = []
    with writers() as begotten, asyncio.Runner() as runner:
        for n in range(kills):
            order = Order(f"{seed}-{n}", url, lanes=concurrency)
            end = killed(begotten, order, chance.uniform(0, longest))
            assert end.code == -signal.SIGKILL, end
            tally.faults += [line for line in end.said if line.startswith("refused")]
            check()
            progress = runner.run(judge(url, end, tally))
            tally.count(end, progress)
            ends.append((end, progress))
        runner.run(_judge_again(url, ends, tally))
    return tally


async def _judge_again(url: str, ends: list[tuple[End, dict[str, int]]], tally: Tally) -> None:
    """Nothing that was found has gone since, though a command may have arrived late."""
    async with reopened(url, tally) as store:
        for end, before in ends:
            now = await _judged(store, end, tally)
            gone = [lane for lane in now if now[lane] < before[lane]]
            tally.faults += [f"{lane} step {before[lane] - 1} went again" for lane in gone]
