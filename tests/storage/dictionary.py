"""A back end in a dictionary. A unit changes a copy of it, which takes its place when all of the
unit succeeded: so a copy of the store is a transaction, and one that nobody changes a snapshot."""

import asyncio
import copy
import itertools
from contextlib import nullcontext

from storage import (
    COUNT_CAP,
    FIRST_SCHEMA,
    Conflict,
    StorageError,
    Unavailable,
    deadline,
    steps,
    upgrades,
)
from storage.lists import check_scan, plan, plan_count, plan_each, value_at
from storage.stepped import SteppedStore


class DictionaryStore(SteppedStore):
    async def open(self, collections, schema=FIRST_SCHEMA):
        self._tables = steps.Tables(collections, steps.Table)
        self._rows = {name: {} for name in ("unique keys", *self._tables)}
        if schema:
            await self.commit(upgrades.opening(None, schema))

    def snapshot(self):
        return nullcontext(self._copy())

    def _copy(self):
        made = copy.copy(self)
        made.now = self._now()
        made._now = lambda: made.now
        made._rows = {name: dict(rows) for name, rows in self._rows.items()}
        return made

    async def get_many(self, keys):
        rows = [(table := self._tables[c.name], self.read(table, id)) for c, id in keys]
        return [table.unexpired(row, self._now()) for table, row in rows]

    async def find(
        self, collection, where=None, *, order=None, descending=False, limit=100, after=None
    ):
        planned = plan(collection, where, order, limit)
        found = sorted(
            await self._all(collection, planned), key=planned.cursor, reverse=descending
        )
        places = map(planned.cursor, found if after else ())
        met = sum(place >= after if descending else place <= after for place in places)
        return planned.page(found[met : met + limit + 1], limit)

    async def find_each(self, collection, field, values, limit=2):
        planned = plan_each(collection, field, values, limit)
        found = [record async for record in self._matching(collection, {})]
        found.sort(key=lambda record: [value_at(record, name) for name in planned.order])
        having = [
            [r for r in found if value_at(r, field) == value][:limit]
            for value in planned.requested
        ]
        return planned.answer(itertools.chain(*having))

    async def count(self, collection, where=None, *, up_to=COUNT_CAP):
        found = await self._all(collection, plan_count(collection, where))
        return min(len(found), max(up_to, 0))

    async def _all(self, collection, planned):
        found = [record async for record in self._matching(collection, planned.equal)]
        order, prefix = planned.order or "id", planned.prefix or ""
        return [record for record in found if str(value_at(record, order)).startswith(prefix)]

    def scan(self, collection, where=None):
        return self._matching(collection, check_scan(collection, where))

    async def _matching(self, collection, equal):
        table = self._tables[collection.name]
        for _, row in sorted(self._rows[table.name].items()):
            await asyncio.sleep(0)
            record = table.unexpired(row, self._now())
            if record and all(value_at(record, path) == equal[path] for path in equal):
                yield record

    async def _write(self, units):
        if deadline.seconds_left() <= 0:
            return [Unavailable("the request has no time left")] * len(units)
        outcomes = [self._outcome(prepared) for prepared in units]
        await asyncio.sleep(0)  # who is cancelled here withdraws nothing
        return outcomes

    def _outcome(self, prepared):
        made = self._copy()
        try:
            result, self._rows = prepared.run(made), made._rows
        except StorageError as error:
            return error
        return result

    def read(self, table, id):
        return self._rows[table.name].get(id)

    def insert(self, table, id, document, marks):
        if self.read(table, id):
            raise Conflict(table.name, "id")
        self.update(table, id, document, marks)

    def update(self, table, id, document, marks):
        self.delete(table, id)
        self._rows[table.name][id] = document, marks
        for key in self._keys(table, id):
            if self._rows["unique keys"].setdefault(key, id) != id:
                raise Conflict(*key[:2])

    mark = update

    def delete(self, table, id):
        for key in self._keys(table, id):
            del self._rows["unique keys"][key]
        self._rows[table.name].pop(id, None)

    def _keys(self, table, id):
        record = table.decode(self.read(table, id)[0]) if self.read(table, id) else None
        return [(table.name, f, value_at(record, f)) for f in table.collection.unique if record]
