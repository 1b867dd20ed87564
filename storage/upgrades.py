"""Upgrades of what is stored, when a program opens the store of an older one.

The store's own record tells the version it has reached, the oldest program that may read it, and
the steps that are done. One process at a time runs what is missing, under a lease; a step that
its process did not finish is run again, from its beginning, by whoever takes the lease next.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, Final

from storage.base import (
    META,
    SCHEMA_ID,
    HalfFilled,
    Insert,
    MetaRecord,
    Schema,
    Stale,
    StorageError,
    Store,
    TooNew,
    Unavailable,
    Unknown,
    Update,
    UpgradeStep,
    Value,
    Write,
)

LEASE: Final = timedelta(seconds=15)
RENEWED_EVERY_SECONDS: Final = 5.0
ASKED_EVERY_SECONDS: Final = 0.2

Now = Callable[[], datetime]


def opening(there: MetaRecord | None, ours: Schema) -> Write | None:
    """What to write about the schema before a program of `ours` uses the store. Raises TooNew.

    A new store has nothing to upgrade. An older one keeps its version until its steps are done,
    but is closed at once to programs that could not read what they will write. Raises HalfFilled.
    """
    if there is None:
        done = [step.name for step in ours.steps]
        new = MetaRecord(
            id=SCHEMA_ID, version=ours.version, oldest_reader=ours.oldest_reader, done=done
        )
        return Insert(META, new)
    check_filled(there)
    if there.oldest_reader > ours.version:
        raise TooNew(
            f"the store needs a program of schema version {there.oldest_reader} or later;"
            f" this one has {ours.version}"
        )
    version = there.version if pending(there, ours) else max(there.version, ours.version)
    agreed = {
        "version": version,
        "oldest_reader": max(there.oldest_reader, ours.oldest_reader),
    }
    held: dict[str, Value] = {"version": there.version, "oldest_reader": there.oldest_reader}
    return Update(META, SCHEMA_ID, set=agreed, expect=held) if agreed != held else None


async def closing(store: Store, version: int) -> list[Write]:
    """The writes after which no program of a schema before `version` opens the store any more.

    They belong into the unit that stores what such a program would misread. Stale: another
    process did the same at this moment.
    """
    there = await _record(store)
    if there.oldest_reader >= version:
        return []
    held = {"oldest_reader": there.oldest_reader}
    return [Update(META, SCHEMA_ID, set={"oldest_reader": version}, expect=held)]


def check_filled(there: MetaRecord) -> None:
    """Raises HalfFilled."""
    if there.filled_since is not None:
        raise HalfFilled(
            f"the store holds a part of what it is filled with since {there.filled_since}: that is"
            " under way, or was cut off. Repeat what filled it, `idp restore` or `idp copy-store`"
        )


def pending(there: MetaRecord, ours: Schema) -> list[UpgradeStep]:
    """The steps that the store has still to go through, in their order."""
    return [step for step in ours.steps if step.name not in there.done]


async def at_opening(
    store: Store, schema: Schema | None, now: Now, new_id: Callable[[], str]
) -> None:
    """`upgrade` as the last act of opening a store, which is closed again when that fails."""
    if schema is None or not schema.steps:
        return
    try:
        await upgrade(store, schema, now, new_id())
    except BaseException:
        await store.close()
        raise


async def upgrade(store: Store, schema: Schema, now: Now, me: str) -> list[str]:
    """Return when every step is done, whoever did it; the names of those that were done here.

    `me` names this process in the lease. Raises what a step raises, as a StorageError.
    """
    done = []
    while steps := pending(record := await _record(store), schema):
        if record.holder != me:
            if not await _take(store, record, now(), me):
                await asyncio.sleep(ASKED_EVERY_SECONDS)
        elif await _run(store, steps[0], now, me):
            version = max(record.version, schema.version if len(steps) == 1 else 0)
            changes = {"done": [*record.done, steps[0].name], "version": version}
            if await is_held(store, me, changes | (FREE if len(steps) == 1 else {})):
                done.append(steps[0].name)
    return done


FREE: Final[dict[str, object]] = {"holder": None, "held_until": None}


async def _record(store: Store) -> MetaRecord:
    record = await store.get(META, SCHEMA_ID)
    if record is None:
        raise StorageError("the store has lost the record of its schema")
    return record


async def _take(store: Store, record: MetaRecord, now: datetime, me: str) -> bool:
    """Whether the lease is ours now: nobody had it, or its time was over."""
    if record.held_until is not None and record.held_until > now:
        return False
    held = {"holder": record.holder, "held_until": record.held_until}
    taken = {"holder": me, "held_until": now + LEASE}
    return await _succeeds(store, Update(META, SCHEMA_ID, set=taken, expect=held))


async def is_held(store: Store, me: str, changes: dict[str, Any]) -> bool:
    """Whether the lease was still that of `me`, and `changes` are written."""
    return await _succeeds(store, Update(META, SCHEMA_ID, set=changes, expect={"holder": me}))


async def _succeeds(store: Store, write: Write) -> bool:
    try:
        await store.commit(write)
    except Stale:
        return False
    return True


async def _run(store: Store, step: UpgradeStep, now: Now, me: str) -> bool:
    """Whether the step came to its end while the lease was ours."""
    try:
        return await while_held(store, now, me, step.run(store))
    except BaseException as error:
        with suppress(StorageError):
            await is_held(store, me, FREE)
        if isinstance(error, Unavailable | Unknown) or not isinstance(error, Exception):
            raise
        raise StorageError(f"the upgrade step {step.name} failed: {error}") from error


async def while_held(store: Store, now: Now, me: str, work: Awaitable[None]) -> bool:
    """Whether `work` came to its end while the lease of `me`, renewed meanwhile, was held.

    It is cancelled when the lease is lost. Raises what `work` raises.
    """
    return await _while(_renewed(store, now, me), work)


async def _renewed(store: Store, now: Now, me: str) -> None:
    """Renew the lease; return when it is lost."""
    is_ours = True
    while is_ours:
        await asyncio.sleep(RENEWED_EVERY_SECONDS)
        with suppress(Unavailable, Unknown):
            is_ours = await is_held(store, me, {"held_until": now() + LEASE})


async def _while(condition: Awaitable[None], work: Awaitable[None]) -> bool:
    """Whether `work` came to its end before `condition` did; it is cancelled otherwise."""
    tasks = asyncio.ensure_future(work), asyncio.ensure_future(condition)
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if tasks[0].done():
            tasks[0].result()
        return tasks[0].done()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
