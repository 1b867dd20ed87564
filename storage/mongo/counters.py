"""Counters with a window: one conditional command while the window lasts."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from pymongo import ReturnDocument
from pymongo.errors import DuplicateKeyError, PyMongoError

from storage import codec
from storage.base import COUNTERS, MAX_MARKS, Counter, Unit, Unknown, Update
from storage.mongo import faults
from storage.mongo.documents import MARKS, Document
from storage.mongo.driver import Driver


class Counters:
    """The counters of a store. Each increment leaves its id on the counter as a mark, by which a
    repeated command finds that it was counted already."""

    def __init__(self, driver: Driver, now: Callable[[], datetime]) -> None:
        self._driver = driver
        self._collection = driver.collection(COUNTERS.name)
        self._now = now

    async def increment(self, unit: Unit, by: int, window: timedelta) -> Counter:
        """Adds `by` to a counter and returns it. `unit` is the increment in the form that
        `counting` returns: it names the counter, and its id is the mark.

        Raises Unavailable, and Unknown when the answer of the server remains lost.
        """
        key = unit.writes[0].id
        attempts = faults.Attempts(unit.id)
        while True:
            try:
                async with attempts.limit():
                    return await self._attempt(key, unit.id, by, window, attempts)
            except (PyMongoError, TimeoutError) as error:
                if attempts.is_over(error):
                    if attempts.is_in_doubt:
                        raise Unknown(unit) from error
                    raise faults.unavailable(error) from error
            await attempts.pause()

    async def _attempt(
        self, key: str, mark: str, by: int, window: timedelta, attempts: faults.Attempts
    ) -> Counter:
        while True:
            document = await self._counted_before(key, mark) if attempts.is_in_doubt else None
            document = document or await self._add(key, mark, by)
            document = document or await self._begin(key, mark, by, window)
            if document is not None:
                return Counter(document["n"], document["expires_at"])

    async def _counted_before(self, key: str, mark: str) -> Document | None:
        found: Document | None = await self._collection.find_one({"_id": key, MARKS: mark})
        return found

    async def _add(self, key: str, mark: str, by: int) -> Document | None:
        # Not where it was counted already: a command that was given up may still arrive.
        running = {"_id": key, "expires_at": {"$gt": self._now()}, MARKS: {"$ne": mark}}
        change = {"$inc": {"n": by}, "$push": {MARKS: {"$each": [mark], "$slice": -MAX_MARKS}}}
        return await self._changed("find_one_and_update", running, change)

    async def _begin(self, key: str, mark: str, by: int, window: timedelta) -> Document | None:
        """Opens a window where none is current; returns None when a concurrent call has opened
        one.
        """
        now = self._now()
        over = {"_id": key, "expires_at": {"$lte": now}}
        fresh = {"n": by, "expires_at": codec.cut(now + window), MARKS: [mark]}
        try:
            return await self._changed("find_one_and_replace", over, fresh, upsert=True)
        except DuplicateKeyError:
            return None

    async def _changed(
        self, method: str, filter: Document, change: Document, **options: Any
    ) -> Document | None:
        call = getattr(self._collection, method)
        # Without a hint the server also tries the index on `expires_at`.
        found: Document | None = await self._driver.sent(
            call(filter, change, return_document=ReturnDocument.AFTER, hint="_id_", **options)
        )
        return found


def counting(unit_id: str, key: str, by: int) -> Unit:
    """Returns an increment in the form of a unit, so that `Store.applied` can report on it."""
    return Unit(unit_id, (Update(COUNTERS, key, increment={"n": by}),))
