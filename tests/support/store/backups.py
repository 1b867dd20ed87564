"""Backups for tests: made in memory, at little cost, and restored into stores of any kind."""

from __future__ import annotations

import io
import uuid
from contextlib import asynccontextmanager

from idp.backup import contents, making, restoring, sealed_files
from idp.backup.contents import COLLECTIONS
from idp.backup.restoring import RestoreTarget
from idp.backup.sealed_files import Cost
from idp.backup.stores import FrozenClock
from idp.foundation import base64url
from idp.foundation.randomness import SystemRandom
from idp.records import ALL
from idp.start import bootstrap
from storage import META, SCHEMA_ID, open_store
from storage.filling import all_records

PASSPHRASE = "correct horse battery"


def make_backups_cheap(monkeypatch) -> None:
    """The key of a file takes 0.1 s and 64 MiB, on purpose."""
    monkeypatch.setattr(sealed_files, "COST", Cost(8, 1, 1))


async def backed_up(store, key: bytes, clock, passphrase: str = PASSPHRASE) -> bytes:
    file = io.BytesIO()
    await making.write(store, [key], file, passphrase, clock=clock, random=SystemRandom())
    return file.getvalue()


async def restored(
    url: str, backup: bytes, clock, *, invalidates=False, passphrase=PASSPHRASE
) -> bytes:
    """Restores into the store of that URL; returns the master key."""
    head = contents.read_whole(io.BytesIO(backup), passphrase).head
    stored_keys = []
    async with as_it_is(url, FrozenClock(clock.now())) as store:
        await restoring.restore(
            RestoreTarget(store, FrozenClock(clock.now()), clock, SystemRandom()),
            io.BytesIO(backup),
            passphrase,
            invalidates=invalidates,
            store_key=lambda: stored_keys.append(head.master_key),
        )
    (key,) = stored_keys
    return base64url.decode(key)


@asynccontextmanager
async def as_it_is(url: str, clock):
    """A store that is opened without checks or upgrades."""
    async with bootstrap.open_unchecked(url, ALL, clock) as store:
        yield store


@asynccontextmanager
async def as_served(url: str, clock, schema):
    """A store as a service opens it."""
    store = open_store(url, now=clock.now, new_id=lambda: uuid.uuid4().hex)
    await store.open(ALL, schema)
    try:
        yield store
    finally:
        await store.close()


async def all_of(url: str, clock) -> list:
    """Every record of every collection, and what the store says of itself."""
    async with as_it_is(url, clock) as store:
        found = [each async for each in all_records(store, COLLECTIONS)]
        return [await store.get(META, SCHEMA_ID), *found]


def master_key_of(service) -> bytes:
    """The master key that a service in this process has."""
    return service.master_key._in_charge.secret
