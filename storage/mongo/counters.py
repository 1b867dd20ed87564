"""Counters with a window: one conditional command while the window lasts."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from pymongo import ReturnDocument
from pymongo.errors import DuplicateKeyError, PyMongoError

from storage import codec
from storage.base import COUNTERS, MAX_MARKS, Counter, Unit, Unknown, Update
from storage.mongo import confirmed_reads, faults
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
                if attempts.record_failure(error):
                    if attempts.is_in_doubt:
                        raise Unknown(unit) from error
                    raise faults.unavailable(error) from error
            await attempts.pause()

    async def _attempt(
        self, key: str, mark: str, by: int, window: timedelta, attempts: faults.Attempts
    ) -> Counter:
        while True:
            document = await self._counted_before(key, mark) if attempts.is_in_doubt else None
            document = document or await self._count(key, mark, by, window)
            if document is not None:
                return Counter(document["n"], document["expires_at"])

    async def _counted_before(self, key: str, mark: str) -> Document | None:
        counted = {"_id": key, MARKS: mark}
        documents = await confirmed_reads.find(self._driver, COUNTERS.name, counted)
        return documents[0] if documents else None

    async def _count(self, key: str, mark: str, by: int, window: timedelta) -> Document | None:
        """Adds to the running window, or opens one; returns None when a concurrent call has opened
        one."""
        if self._driver.shares_commands:
            return await self._count_in_one_command(key, mark, by, window)
        counted = await self._add(key, mark, by)
        return counted or await self._begin(key, mark, by, window)

    async def _count_in_one_command(
        self, key: str, mark: str, by: int, window: timedelta
    ) -> Document | None:
        """Has the effect of `_add` and `_begin` with one command.

        A mark that the counter already has changes nothing: an abandoned command may have arrived.
        """
        now = self._now()
        is_running = {"$gt": ["$expires_at", now]}
        is_counted = {"$in": [{"$literal": mark}, {"$ifNull": [f"${MARKS}", []]}]}
        # A sum beyond 64 bits is an error, as with `$inc`, and not a floating-point number.
        total = {"$toLong": {"$add": ["$n", by]}}
        marks = {"$slice": [{"$concatArrays": [f"${MARKS}", [{"$literal": mark}]]}, -MAX_MARKS]}
        ends_at = codec.truncated(now + window)

        def by_state(counted: object, incremented: object, new_window: object) -> Document:
            running = {"$cond": [is_counted, counted, incremented]}
            return {"$cond": [is_running, running, new_window]}

        change = {
            "n": by_state("$n", total, by),
            MARKS: by_state(f"${MARKS}", marks, [{"$literal": mark}]),
            "expires_at": by_state("$expires_at", "$expires_at", ends_at),
        }
        try:
            return await self._changed(
                "find_one_and_update", {"_id": key}, [{"$set": change}], upsert=True
            )
        except DuplicateKeyError:
            return None

    async def _add(self, key: str, mark: str, by: int) -> Document | None:
        # Not if it was counted already: an abandoned command may still arrive.
        running = {"_id": key, "expires_at": {"$gt": self._now()}, MARKS: {"$ne": mark}}
        change = {"$inc": {"n": by}, "$push": {MARKS: {"$each": [mark], "$slice": -MAX_MARKS}}}
        return await self._changed("find_one_and_update", running, change)

    async def _begin(self, key: str, mark: str, by: int, window: timedelta) -> Document | None:
        """Opens a window where none is current; returns None when a concurrent call has opened
        one.
        """
        now = self._now()
        expired = {"_id": key, "expires_at": {"$lte": now}}
        new_window = {"n": by, "expires_at": codec.truncated(now + window), MARKS: [mark]}
        try:
            return await self._changed("find_one_and_replace", expired, new_window, upsert=True)
        except DuplicateKeyError:
            return None

    async def _changed(
        self, method: str, conditions: Document, change: Document | list[Document], **options: Any
    ) -> Document | None:
        call = getattr(self._collection, method)
        # Without a hint the server also tries the index on `expires_at`.
        document: Document | None = await self._driver.send(
            call(conditions, change, return_document=ReturnDocument.AFTER, hint="_id_", **options)
        )
        return document


def counting(unit_id: str, key: str, by: int) -> Unit:
    """Returns an increment in the form of a unit, so that `Store.applied` can report on it."""
    return Unit(unit_id, (Update(COUNTERS, key, increment={"n": by}),))
