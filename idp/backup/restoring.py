"""Restoring a backup, or copying a store, into an empty store, which is usable only when it is
complete.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, BinaryIO, Final

from msgspec import Struct

from idp.audit import events
from idp.audit.events import AuditEntry
from idp.backup.contents import COLLECTIONS, Backup
from idp.backup.making import find_installation, readable_schema
from idp.foundation.clock import Clock
from idp.foundation.randomness import Random
from idp.records import (
    AUTH_REQUESTS,
    DEVICE_REQUESTS,
    INSTANCES,
    LOGOUT_REQUESTS,
    OUTBOX,
    PUSHED_REQUESTS,
    REGISTRATIONS,
    USER_CODES,
    VERIFICATIONS,
)
from storage import Collection, MetaRecord, Store
from storage.filling import (
    CollectionRecord,
    OnProgress,
    StoreContent,
    all_records,
    clear,
    fill,
    remove,
)

ACTOR: Final = "restore"
# Records of flows that are not finished, and may have been completed since the backup was made.
PENDING: Final[tuple[Collection[Any], ...]] = (
    VERIFICATIONS,
    REGISTRATIONS,
    AUTH_REQUESTS,
    PUSHED_REQUESTS,
    DEVICE_REQUESTS,
    USER_CODES,
    LOGOUT_REQUESTS,
)

Finish = Callable[[], Awaitable[None]]


class RestoreTarget(Struct, frozen=True):
    """The empty store to fill, opened without a schema, with the clocks and the random source.

    `store_clock` is the clock of the store, which does not advance; `clock` is the real one.
    `on_progress` is called with the number of records written since its last call.
    """

    store: Store
    store_clock: Clock
    clock: Clock
    random: Random
    on_progress: OnProgress = lambda n: None


async def restore(
    target: RestoreTarget,
    file: BinaryIO,
    passphrase: str,
    *,
    invalidates: bool,
    store_key: Callable[[], None],
) -> None:
    """Restores a backup, which must have been read by `contents.read_whole` before.

    With `invalidates`, all sessions and tokens that were issued before the backup are revoked,
    codes that were already sent become invalid, and messages in the outbox are not sent.
    `store_key` stores the master key. Raises StoreNotEmpty and HalfFilled before anything is
    written; DamagedBackup if the file has changed since it was checked; StorageError.
    """
    backup = Backup(file, passphrase)

    async def finish() -> None:
        if invalidates:
            await invalidate(target.store, target.clock, target.random)
        # Last, so that a failed restore leaves no key.
        store_key()

    await fill(target.store, _store_content(target, backup.head.schema, _restored(backup)), finish)


async def copy(source: Store, target: RestoreTarget) -> None:
    """Copies all records of the store `source`, in one consistent state, into the empty store of
    `target`.

    Raises NotFound, NewerBackup, TooNew, HalfFilled, StoreNotEmpty, StorageError.
    """

    async def finish() -> None:
        """Does nothing: a copy is complete with its last record."""

    async with source.snapshot() as view:
        schema = await readable_schema(view)
        await find_installation(view)
        await fill(
            target.store, _store_content(target, schema, all_records(view, COLLECTIONS)), finish
        )


def _store_content(
    target: RestoreTarget, schema: MetaRecord, records: AsyncIterator[CollectionRecord]
) -> StoreContent:
    return StoreContent(
        collections=COLLECTIONS,
        schema=schema,
        records=records,
        moment=target.store_clock.now(),
        now=target.clock.now,
        holder=target.random.id(),
        on_progress=target.on_progress,
    )


async def _restored(backup: Backup) -> AsyncIterator[CollectionRecord]:
    for stored, _ in backup.records():
        yield stored


async def invalidate(store: Store, clock: Clock, random: Random) -> None:
    """Replaces the security stamp of the installation, which ends all sessions and tokens, and
    removes pending flows and unsent messages.

    Raises StorageError, NotFound.
    """
    await clear(store, PENDING)
    await remove(store, _unsent(store))
    instance = await find_installation(store)
    stamp = {"stamp": random.token(bits=64)}
    entry = AuditEntry("instance.tokens_invalidated", ACTOR, clock.now())
    writes = events.update(random, INSTANCES, instance, stamp, entry)
    await store.commit(*writes)


async def _unsent(store: Store) -> AsyncIterator[CollectionRecord]:
    """Yields messages whose codes are invalid, or that may have been sent since the backup was
    made.
    """
    async for message in store.scan(OUTBOX):
        if message.state != "sent":
            yield OUTBOX, message
