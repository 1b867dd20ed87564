"""Upgrades of stored records, when a program opens the store of an older one.

The store's own record has the version it has reached, the oldest program that may read it, and the
completed steps. One process at a time runs the missing ones, under a lease; a step that its
process did not complete is run again from its beginning, by the next holder of the lease. Late
steps follow when programs of the version before have ended, a day after the others.
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
RENEWAL_SECONDS: Final = 5.0
POLL_SECONDS: Final = 0.2
SIDE_BY_SIDE: Final = timedelta(days=1)  # how long programs of the version before may still run

Now = Callable[[], datetime]


def opening(stored: MetaRecord | None, schema: Schema) -> Write | None:
    """Returns the write of the schema record with which a program of this schema opens the store;
    None if nothing has to be written.

    `stored` is the record in the store, None in a new one, which has nothing to upgrade. An older
    store keeps its version until its steps are done, but is closed immediately to programs that
    could not read the records which the steps write. Raises TooNew, HalfFilled."""
    if stored is None:
        done = [step.name for step in schema.steps]
        record = MetaRecord(
            id=SCHEMA_ID, version=schema.version, oldest_reader=schema.oldest_reader, done=done
        )
        return Insert(META, record)
    check_filled(stored)
    if stored.oldest_reader > schema.version:
        raise TooNew(
            f"the store needs a program of schema version {stored.oldest_reader} or later;"
            f" this one has {schema.version}. Run that one, or restore the backup that was made"
            " before the upgrade (`idp restore`)"
        )
    version = stored.version if pending(stored, schema) else max(stored.version, schema.version)
    values = {
        "version": version,
        "oldest_reader": max(stored.oldest_reader, schema.oldest_reader),
    }
    expected: dict[str, Value] = {"version": stored.version, "oldest_reader": stored.oldest_reader}
    return Update(META, SCHEMA_ID, set=values, expect=expected) if values != expected else None


async def closing(store: Store, version: int) -> list[Write]:
    """Returns the writes after which no program of a schema before `version` can open the store.

    They belong in the unit that stores records which such a program would misread. That unit
    raises Stale if another process did the same concurrently."""
    stored = await _record(store)
    if stored.oldest_reader >= version:
        return []
    expected = {"oldest_reader": stored.oldest_reader}
    return [Update(META, SCHEMA_ID, set={"oldest_reader": version}, expect=expected)]


def check_filled(stored: MetaRecord) -> None:
    """Raises HalfFilled if the store is being filled, or if that was interrupted."""
    if stored.filled_since is not None:
        raise HalfFilled(
            f"the store holds a part of what it is filled with since {stored.filled_since}: that"
            " is under way, or was cut off. Repeat what filled it, `idp restore` or"
            " `idp copy-store`"
        )


def pending(stored: MetaRecord, schema: Schema) -> list[UpgradeStep]:
    """Returns the upgrade steps of the schema, in order, without which the store is not opened and
    which it does not have yet; `stored` is its schema record."""
    return [step for step in _missing(stored, schema) if not step.is_late]


def late(stored: MetaRecord, schema: Schema) -> list[UpgradeStep]:
    """Returns the late upgrade steps of the schema that the store does not have yet."""
    return [step for step in _missing(stored, schema) if step.is_late]


def _missing(stored: MetaRecord, schema: Schema) -> list[UpgradeStep]:
    return [step for step in schema.steps if step.name not in stored.done]


async def at_opening(
    store: Store, schema: Schema | None, now: Now, new_id: Callable[[], str]
) -> None:
    """Calls `upgrade` as the last step of opening a store, unless the schema has no upgrade steps
    or is None. Closes the store and raises the error if it fails."""
    if schema is None or not schema.steps:
        return
    try:
        await upgrade(store, schema, now, new_id())
    except BaseException:
        await store.close()
        raise


async def upgrade(store: Store, schema: Schema, now: Now, holder: str) -> list[str]:
    """Runs the missing upgrade steps, and returns the names of those that this process has
    completed.

    Returns when every step is done but the late ones, by this process or another. `holder` is the
    name of this process in the lease. Raises the error of a step as a StorageError."""
    return await _upgrade(store, schema, now, holder, pending)


async def upgrade_late(store: Store, schema: Schema, now: Now, new_id: Callable[[], str]) -> bool:
    """Runs the missing late upgrade steps if they are due, as `upgrade` runs the others; returns
    whether the store has all of them now."""
    record = await _record(store)
    if not late(record, schema):
        return True
    if record.upgraded_at is not None and now() < record.upgraded_at + SIDE_BY_SIDE:
        return False
    await _upgrade(store, schema, now, new_id(), late)
    return True


async def _upgrade(
    store: Store,
    schema: Schema,
    now: Now,
    holder: str,
    steps_of: Callable[[MetaRecord, Schema], list[UpgradeStep]],
) -> list[str]:
    completed = []
    while steps := steps_of(record := await _record(store), schema):
        if record.holder != holder:
            if not await _take_lease(store, record, now(), holder):
                await asyncio.sleep(POLL_SECONDS)
        elif await _run(store, steps[0], now, holder):
            version = max(record.version, schema.version if len(steps) == 1 else 0)
            changes = {"done": [*record.done, steps[0].name], "version": version}
            end = {**FREE, "upgraded_at": now()} if len(steps) == 1 else {}
            if await write_if_held(store, holder, changes | end):
                completed.append(steps[0].name)
    return completed


FREE: Final[dict[str, object]] = {"holder": None, "held_until": None}


async def _record(store: Store) -> MetaRecord:
    record = await store.get(META, SCHEMA_ID)
    if record is None:
        raise StorageError("the store has lost the record of its schema")
    return record


async def _take_lease(store: Store, record: MetaRecord, now: datetime, holder: str) -> bool:
    """Returns whether this process has taken the lease, which was free or had expired."""
    if record.held_until is not None and record.held_until > now:
        return False
    expected = {"holder": record.holder, "held_until": record.held_until}
    lease = {"holder": holder, "held_until": now + LEASE}
    return await _succeeds(store, Update(META, SCHEMA_ID, set=lease, expect=expected))


async def write_if_held(store: Store, holder: str, changes: dict[str, Any]) -> bool:
    """Writes `changes` into the schema record if `holder` still holds the lease; returns whether
    it does."""
    return await _succeeds(store, Update(META, SCHEMA_ID, set=changes, expect={"holder": holder}))


async def _succeeds(store: Store, write: Write) -> bool:
    try:
        await store.commit(write)
    except Stale:
        return False
    return True


async def _run(store: Store, step: UpgradeStep, now: Now, holder: str) -> bool:
    """Returns whether the step was completed while this process held the lease."""
    try:
        return await while_held(store, now, holder, step.run(store))
    except BaseException as error:
        with suppress(StorageError):
            await write_if_held(store, holder, FREE)
        if isinstance(error, Unavailable | Unknown) or not isinstance(error, Exception):
            raise
        raise StorageError(f"the upgrade step {step.name} failed: {error}") from error


async def while_held(store: Store, now: Now, holder: str, work: Awaitable[None]) -> bool:
    """Runs `work` while `holder` holds the lease, which is renewed meanwhile; returns whether
    `work` was completed.

    `work` is cancelled when the lease is lost. Raises the errors of `work`.
    """
    return await _complete_before(_renewed(store, now, holder), work)


async def _renewed(store: Store, now: Now, holder: str) -> None:
    """Renews the lease; returns when it is lost."""
    is_held = True
    while is_held:
        await asyncio.sleep(RENEWAL_SECONDS)
        with suppress(Unavailable, Unknown):
            is_held = await write_if_held(store, holder, {"held_until": now() + LEASE})


async def _complete_before(end: Awaitable[None], work: Awaitable[None]) -> bool:
    """Returns whether `work` was completed before `end`; it is cancelled otherwise."""
    tasks = asyncio.ensure_future(work), asyncio.ensure_future(end)
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if tasks[0].done():
            tasks[0].result()
        return tasks[0].done()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
