"""What a writer that will be killed writes, and what must then be found.

Every lane of a run goes through the same steps, one after the other, on records of its own. So
when it dies with `k` steps acknowledged, its records are as after `k` steps or as after `k + 1`:
anything else is a write that was lost, applied twice, or applied by half.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from msgspec import Struct

from storage import COUNTERS, Delete, Insert, Reader, Store, Unit, Update, Write
from tests.storage.records import ENTRIES, USERS, Entry, user

KINDS = ("insert", "update", "unit", "delete", "each", "count")
WINDOW = timedelta(days=300)
EACH = 5


class Step(Struct, frozen=True):
    """The n-th write of a lane. Step 0 makes the lane's own user."""

    lane: str
    n: int

    @property
    def kind(self) -> str:
        return "begin" if self.n == 0 else KINDS[(self.n - 1) % len(KINDS)]

    @property
    def id(self) -> str:
        return f"{self.lane}.{self.n}"

    def units(self) -> list[list[Write]]:
        """The writes; none for the counter, which is no unit."""
        entry = Insert(ENTRIES, Entry(id=self.id, text=self.kind))
        if self.kind == "begin":
            return [[Insert(USERS, user(self.lane))]]
        if self.kind == "insert":
            return [[entry]]
        if self.kind == "update":
            return [[self._marked()]]
        if self.kind == "unit":
            return [[entry, self._marked(), Delete(ENTRIES, f"{self.lane}.{self.n - 2}")]]
        if self.kind == "delete":
            return [[Delete(ENTRIES, f"{self.lane}.{self.n - 1}")]]
        if self.kind == "each":
            return [[Insert(ENTRIES, Entry(id=id)) for id in pair] for pair in self.pairs()]
        return []

    def _marked(self) -> Update:
        """Holds only when every earlier mark was applied, exactly once."""
        marks = [n for n in range(self.n) if Step(self.lane, n).kind in ("update", "unit")]
        expected = {"n": len(marks), "note": f"{marks[-1]}" if marks else None}
        changes = {"note": f"{self.n}"}
        return Update(USERS, self.lane, set=changes, increment={"n": 1}, expect=expected)

    def pairs(self) -> list[list[str]]:
        return [[f"{self.id}.{k}", f"{self.id}.{k}.twin"] for k in range(EACH)]

    async def perform(self, store: Store) -> None:
        if self.kind == "count":
            await store.increment(self.lane, window=WINDOW)
        elif self.kind == "each":
            for outcome in await store.commit_each(self.units()):
                if outcome is not None:
                    raise outcome
        else:
            await store.commit(*self.units()[0])

    def as_unit(self) -> Unit | None:
        """The unit under the id that the writer gave it, when records can tell of it."""
        told = self.kind in ("begin", "insert", "update", "unit")
        return Unit(self.id, tuple(self.units()[0])) if told else None


def steps(lane: str) -> Iterator[Step]:
    n = 0
    while True:
        yield Step(lane, n)
        n += 1


class State(Struct):
    """All that a lane keeps: its entries' ids, its user's (n, note), its counter."""

    entries: set[str] = set()
    user: tuple[int, str | None] | None = None
    count: int = 0


def after(lane: str, k: int) -> State:
    """The state after the first k steps."""
    state = State()
    for n in range(k):
        _apply(state, Step(lane, n))
    return state


def _apply(state: State, step: Step) -> None:
    for write in (write for unit in step.units() for write in unit):
        if write.collection is USERS:
            marks = state.user[0] + 1 if state.user else 0
            state.user = (marks, None if step.kind == "begin" else f"{step.n}")
        elif isinstance(write, Insert):
            state.entries.add(write.id)
        else:
            state.entries.discard(write.id)
    state.count += step.kind == "count"


async def found(view: Reader, lane: str, k: int) -> State:
    """What there is of a lane that can't have gone further than its step k."""
    ids = [
        write.id
        for n in range(k + 1)
        for unit in Step(lane, n).units()
        for write in unit
        if write.collection is ENTRIES
    ]
    there, counter, *entries = await view.get_many(
        [(USERS, lane), (COUNTERS, lane), *((ENTRIES, id) for id in dict.fromkeys(ids))]
    )
    return State(
        {entry.id for entry in entries if entry},
        (there.n, there.note) if there else None,
        counter.n if counter else 0,
    )


def progress(state: State, lane: str, k: int) -> int | None:
    """k when the step in doubt left nothing, k + 1 when it is there whole; None: a fault.

    Of a `commit_each` any of the units may be there, each of them whole.
    """
    in_doubt = Step(lane, k)
    if state == after(lane, k):
        return k
    if state == after(lane, k + 1):
        return k + 1
    if in_doubt.kind == "each":
        whole = [pair for pair in in_doubt.pairs() if state.entries.issuperset(pair)]
        if state.entries - {id for pair in whole for id in pair} == after(lane, k).entries:
            return k
    return None
