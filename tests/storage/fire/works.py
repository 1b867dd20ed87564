"""Every way of writing at once, each unit on records of its own, and how often it was applied."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta

from msgspec import Struct

from storage import COUNTERS, Insert, Store, Unavailable, Unknown, Update
from tests.storage.records import ENTRIES, USERS, Entry, user

UNITS = 20
HOUR = timedelta(hours=1)


class Account(Struct):
    """What the callers were told, and each place where the records say otherwise."""

    injected: int = 0
    acknowledged: int = 0
    unavailable: int = 0
    unknown: int = 0
    settled: int = 0
    lost: list[str] = []
    double: list[str] = []
    wrong: list[str] = []

    def __str__(self) -> str:
        return (
            f"{self.injected} faults, {self.acknowledged} acknowledged,"
            f" {self.unavailable} not applied, {self.unknown} unknown ({self.settled} settled by"
            f" their id), {len(self.lost)} lost, {len(self.double)} double,"
            f" {len(self.wrong)} wrong"
        )

    @property
    def faults(self) -> list[str]:
        return self.lost + self.double + self.wrong

    async def settle(self, store: Store, error: Unknown) -> bool:
        """Whether a unit of unknown outcome was applied, by the unit's own id."""
        self.unknown += 1
        while True:
            try:
                is_applied = await store.applied(error.unit)
            except Unavailable:
                await asyncio.sleep(0.05)
            else:
                self.settled += is_applied is not None
                return bool(is_applied)

    async def expected(self, store: Store, id: str, outcome: object) -> int:
        """How often the unit must be found, by what its caller was told."""
        if isinstance(outcome, Unknown):
            return int(await self.settle(store, outcome))
        if isinstance(outcome, Unavailable):
            self.unavailable += 1
            return 0
        if isinstance(outcome, BaseException):
            self.wrong.append(f"{id}: {outcome!r}")
            return 0
        self.acknowledged += 1
        return 1

    def compare(self, id: str, expected: int, found: int) -> None:
        if found < expected:
            self.lost.append(id)
        elif found > expected:
            self.double.append(id)


def ids(run: str, work: str) -> list[str]:
    return [f"{run}.{work}.{n}" for n in range(UNITS)]


def _counted(id: str) -> Update:
    return Update(USERS, id, increment={"n": 1}, expect={"is_active": True})


def _entered(id: str) -> Insert:
    return Insert(ENTRIES, Entry(id=id))


async def _each_alone(store: Store, units: Sequence[Sequence[object]]) -> list[object]:
    committing = [store.commit(*unit) for unit in units]
    return await asyncio.gather(*committing, return_exceptions=True)


async def _updates(store: Store, ids: list[str]) -> list[object]:
    return await _each_alone(store, [[_counted(id)] for id in ids])


async def _inserts(store: Store, ids: list[str]) -> list[object]:
    return await _each_alone(store, [[_entered(id)] for id in ids])


async def _units(store: Store, ids: list[str]) -> list[object]:
    return await _each_alone(store, [[_counted(id), _entered(id)] for id in ids])


async def _many_updates(store: Store, ids: list[str]) -> list[object]:
    return await store.commit_each([[_counted(id)] for id in ids])


async def _many_inserts(store: Store, ids: list[str]) -> list[object]:
    return await store.commit_each([[_entered(id)] for id in ids])


async def _many_units(store: Store, ids: list[str]) -> list[object]:
    return await store.commit_each([[_counted(id), _entered(id)] for id in ids])


async def _counters(store: Store, ids: list[str]) -> list[object]:
    counting = [store.increment(id, window=HOUR) for id in ids]
    return await asyncio.gather(*counting, return_exceptions=True)


WORKS = {
    "updates": _updates,
    "inserts": _inserts,
    "units": _units,
    "many-updates": _many_updates,
    "many-inserts": _many_inserts,
    "many-units": _many_units,
    "counters": _counters,
}


async def prepare(store: Store, run: str) -> None:
    """The users that a run of all works changes."""
    units = [[Insert(USERS, user(id))] for work in WORKS for id in ids(run, work)]
    assert not any(await store.commit_each(units))


async def perform(store: Store, run: str) -> dict[str, object]:
    """Do all works at once; each unit's outcome."""
    doing = [work(store, ids(run, name)) for name, work in WORKS.items()]
    outcomes: dict[str, object] = {}
    for name, found in zip(WORKS, await asyncio.gather(*doing), strict=True):
        outcomes |= zip(ids(run, name), found, strict=True)
    return outcomes


async def judge(store: Store, outcomes: dict[str, object], account: Account) -> None:
    """Hold what the callers were told against what is stored."""
    for id, outcome in outcomes.items():
        expected = await account.expected(store, id, outcome)
        there, entry, counter = await store.get_many([(USERS, id), (ENTRIES, id), (COUNTERS, id)])
        _, work, _ = id.rsplit(".", 2)
        if work == "counters":
            account.compare(id, expected, counter.n if counter else 0)
        if "updates" in work or "units" in work:
            account.compare(id, expected, there.n)
        if "inserts" in work or "units" in work:
            account.compare(id, expected, int(entry is not None))


async def read(store: Store, run: str, account: Account) -> None:
    """Read what was prepared, many at once; whoever gets an answer gets the right one."""
    wanted = ids(run, "inserts")
    alone = [store.get(USERS, id) for id in wanted]
    pairs = [store.get_many([(USERS, id), (ENTRIES, f"{id}.not")]) for id in wanted]
    found = await asyncio.gather(*alone, return_exceptions=True)
    found += await asyncio.gather(*pairs, return_exceptions=True)
    right = [user(id) for id in wanted] + [[user(id), None] for id in wanted]
    for answer, each in zip(found, right, strict=True):
        if isinstance(answer, Unavailable):
            account.unavailable += 1
        elif answer != each:
            account.wrong.append(f"{each!r} is read as {answer!r}")
