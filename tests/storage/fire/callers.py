"""Callers that write while servers come and go, and what must then be stored."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections import Counter
from datetime import timedelta

from storage import COUNTERS, Insert, Unavailable, Unknown, Update
from tests.storage.records import ENTRIES, USERS, Entry, user

CALLERS = 8
HOUR = timedelta(hours=1)


class Callers:
    """They write on records of their own, each in its way.

    Whoever is told that an outcome is not known asks for it, so in the end each knows exactly
    what is stored.
    """

    def __init__(self, store, name, account, *, text=""):
        self.store = store
        self.text = text
        self.name = name
        self.account = account
        self.applied: Counter[str] = Counter()
        self.entries = set()
        self.gaps = []  # between two answers of one caller; the last is between answer and end
        self._answered = {}  # when the last write that was acknowledged began, by caller

    def id(self, n):
        return f"{self.name}.{n}"

    async def prepare(self):
        units = [[Insert(USERS, user(self.id(n)))] for n in range(CALLERS)]
        assert not any(await self.store.commit_each(units))

    @property
    def longest_gap(self):
        return max(self.gaps)

    def is_answered_since(self, instant):
        """Whether each caller has begun a write after it, and had it acknowledged."""
        return all(self._answered.get(n, 0) > instant for n in range(CALLERS))

    async def write_while(self, goes_on):
        await asyncio.gather(*(self._write(n, goes_on) for n in range(CALLERS)))

    async def _write(self, n, goes_on):
        ways = (self._alone, self._together, self._each, self._counted)
        succeeded_at = time.monotonic()
        while goes_on():
            began = time.monotonic()
            if await ways[n % len(ways)](self.id(n)):
                self.gaps.append(time.monotonic() - succeeded_at)
                succeeded_at = time.monotonic()
                self._answered[n] = began
            else:
                await asyncio.sleep(0.1)
        self.gaps.append(time.monotonic() - succeeded_at)

    async def _alone(self, id):
        outcome = await self._told(self.store.commit(self._update(id)))
        return await self._note(id, None, outcome)

    async def _together(self, id):
        entry = self._entry()
        outcome = await self._told(self.store.commit(self._update(id), entry))
        return await self._note(id, entry.id, outcome)

    async def _each(self, id):
        entries = [self._entry() for _ in range(4)]
        units = [[self._update(id)], *([entry] for entry in entries)]
        first, *others = await self.store.commit_each(units)
        for entry, outcome in zip(entries, others, strict=True):
            await self._note(None, entry.id, outcome)
        return await self._note(id, None, first)

    async def _counted(self, id):
        outcome = await self._told(self.store.increment(id, window=HOUR))
        return await self._note(id, None, outcome)

    async def _told(self, attempt):
        try:
            await attempt
        except (Unavailable, Unknown) as error:
            return error
        return None

    async def _note(self, id, entry, outcome):
        """Remember what must be there; whether the store acknowledged it."""
        is_applied = await self.account.expected(self.store, id or entry, outcome)
        if is_applied and id:
            self.applied[id] += 1
        if is_applied and entry:
            self.entries.add(entry)
        return outcome is None

    def _update(self, id):
        return Update(USERS, id, increment={"n": 1}, expect={"is_active": True})

    def _entry(self):
        return Insert(ENTRIES, Entry(id=f"{self.name}.{uuid.uuid4().hex}", text=self.text))

    async def judge(self):
        for id in map(self.id, range(CALLERS)):
            there, counter = await self.store.get_many([(USERS, id), (COUNTERS, id)])
            self.account.compare(id, self.applied[id], there.n + (counter.n if counter else 0))
        found = {each.id async for each in self.store.scan(ENTRIES)}
        found = {id for id in found if id.startswith(f"{self.name}.")}
        self.account.lost.extend(self.entries - found)
        self.account.double.extend(found - self.entries)
