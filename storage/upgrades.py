"""Upgrades of stored records, when a program opens the store of an older one.

The store's own record has the version it has reached, the oldest program that may read it, and the
completed steps. One process at a time runs the missing ones, under a lease; a step that its
process did not complete is run again from its beginning, by the next holder of the lease.
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
    """Returns the write of the schema record with which a program of the schema `ours` opens the
    store; None if nothing has to be written.

    `there` is the stored record, None in a new store, which has nothing to upgrade. An older store
    keeps its version until its steps are done, but is closed at once to programs that could not
    read what they will write. Raises TooNew, HalfFilled.
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
            f" this one has {ours.version}. Run that one, or restore the backup that was made"
            " before the upgrade (`idp restore`)"
        )
    version = there.version if pending(there, ours) else max(there.version, ours.version)
    agreed = {
        "version": version,
        "oldest_reader": max(there.oldest_reader, ours.oldest_reader),
    }
    held: dict[str, Value] = {"version": there.version, "oldest_reader": there.oldest_reader}
    return Update(META, SCHEMA_ID, set=agreed, expect=held) if agreed != held else None


async def closing(store: Store, version: int) -> list[Write]:
    """Returns the writes after which no program of a schema before `version` can open the store.

    They belong into the unit that stores what such a program would misread. That unit raises Stale
    if another process did the same concurrently.
    """
    there = await _record(store)
    if there.oldest_reader >= version:
        return []
    held = {"oldest_reader": there.oldest_reader}
    return [Update(META, SCHEMA_ID, set={"oldest_reader": version}, expect=held)]


def check_filled(there: MetaRecord) -> None:
    """Raises HalfFilled if the store is being filled, or if that was interrupted."""
    if there.filled_since is not None:
        raise HalfFilled(
            f"the store holds a part of what it is filled with since {there.filled_since}: that is"
            " under way, or was cut off. Repeat what filled it, `idp restore` or `idp copy-store`"
        )


def pending(there: MetaRecord, ours: Schema) -> list[UpgradeStep]:
    """Returns the upgrade steps of the schema `ours` that the store with the schema record `there`
    still lacks, in order."""
    return [step for step in ours.steps if step.name not in there.done]


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


async def upgrade(store: Store, schema: Schema, now: Now, me: str) -> list[str]:
    """Runs the missing upgrade steps, and returns the names of those that this process has
    completed.

    Returns when every step is done, by whichever process. `me` names this process in the lease.
    Raises the error of a step as a StorageError.
    """
    done = []
    while steps := pending(record := await _record(store), schema):
        if record.holder != me:
            if not await _take(store, record, now(), me):
                await asyncio.sleep(ASKED_EVERY_SECONDS)
        elif await _run(store, steps[0], now, me):
            version = max(record.version, schema.version if len(steps) == 1 else 0)
            changes = {"done": [*record.done, steps[0].name], "version": version}
            if await write_if_held(store, me, changes | (FREE if len(steps) == 1 else {})):
                done.append(steps[0].name)
    return done


FREE: Final[dict[str, object]] = {"holder": None, "held_until": None}


async def _record(store: Store) -> MetaRecord:
    record = await store.get(META, SCHEMA_ID)
    if record is None:
        raise StorageError("the store has lost the record of its schema")
    return record


async def _take(store: Store, record: MetaRecord, now: datetime, me: str) -> bool:
    """Returns whether this process has taken the lease, which was free or had expired."""
    if record.held_until is not None and record.held_until > now:
        return False
    held = {"holder": record.holder, "held_until": record.held_until}
    taken = {"holder": me, "held_until": now + LEASE}
    return await _succeeds(store, Update(META, SCHEMA_ID, set=taken, expect=held))


async def write_if_held(store: Store, me: str, changes: dict[str, Any]) -> bool:
    """Writes `changes` into the schema record if `me` still holds the lease; returns whether it
    did.
    """
    return await _succeeds(store, Update(META, SCHEMA_ID, set=changes, expect={"holder": me}))


async def _succeeds(store: Store, write: Write) -> bool:
    try:
        await store.commit(write)
    except Stale:
        return False
    return True


async def _run(store: Store, step: UpgradeStep, now: Now, me: str) -> bool:
    """Returns whether the step was completed while this process held the lease."""
    try:
        return await while_held(store, now, me, step.run(store))
    except BaseException as error:
        with suppress(StorageError):
            await write_if_held(store, me, FREE)
        if isinstance(error, Unavailable | Unknown) or not isinstance(error, Exception):
            raise
        raise StorageError(f"the upgrade step {step.name} failed: {error}") from error


async def while_held(store: Store, now: Now, me: str, work: Awaitable[None]) -> bool:
    """Runs `work` while `me` holds the lease, which is renewed meanwhile; returns whether `work`
    was completed.

    `work` is cancelled when the lease is lost. Raises the errors of `work`.
    """
    return await _while(_renewed(store, now, me), work)


async def _renewed(store: Store, now: Now, me: str) -> None:
    """Renews the lease; returns when it is lost."""
    is_ours = True
    while is_ours:
        await asyncio.sleep(RENEWED_EVERY_SECONDS)
        with suppress(Unavailable, Unknown):
            is_ours = await write_if_held(store, me, {"held_until": now() + LEASE})


async def _while(condition: Awaitable[None], work: Awaitable[None]) -> bool:
    """Returns whether `work` was completed before `condition`; it is cancelled otherwise."""
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
