"""Verification of a whole store: whether every record can be read, and how many there are."""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec import Struct

from idp.backup.contents import COLLECTIONS, Manifest
from idp.backup.making import find_installation, readable_schema
from idp.config.settings import Config
from idp.foundation.clock import SystemClock
from idp.foundation.errors import IdpError
from idp.foundation.randomness import SystemRandom
from idp.records import ALL
from idp.start import bootstrap, master_keys
from storage import MetaRecord, Reader
from storage.filling import CollectionDigests, OnProgress, all_records, encode

_MAX_DAMAGE: Final = 10  # sentences about a damaged file


class DamagedStore(IdpError):
    """The error that a record of the store can't be read, or that its file is damaged."""

    error_code = "store.damaged"


class VerifiedStore(Struct, frozen=True):
    """The schema record of a store that was read to its end, and the counts and digests of its
    records.
    """

    schema: MetaRecord
    manifest: Manifest


async def verify(config: Config, on_progress: OnProgress = lambda n: None) -> VerifiedStore:
    """Reads every record of the configured store in one consistent state, while the service may
    run, and checks the file of a SQLite store and the master key.

    Raises DamagedStore; ConfigError if the key is missing or another one; NotFound,
    NewerBackup, TooNew, HalfFilled, StorageError.
    """
    bootstrap.check_store_exists(config.store)
    keys = master_keys.given(config, SystemRandom())
    async with bootstrap.open_unchecked(config.store, ALL, SystemClock()) as store:
        find_damage = await store.find_damage(_MAX_DAMAGE)
        if find_damage:
            raise DamagedStore("; ".join(find_damage))
        async with store.snapshot() as view:
            schema = await readable_schema(view)
            master_keys.needed(await find_installation(view), keys)
            return VerifiedStore(schema, await _read(view, on_progress))


async def _read(view: Reader, on_progress: OnProgress) -> Manifest:
    digests = CollectionDigests()
    for collection in COLLECTIONS:
        try:
            async for stored, record in all_records(view, [collection]):
                digests.add(stored, encode(record))
                on_progress(1)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise DamagedStore(f"a record of {collection.name} can't be read: {error}") from None
    return Manifest(collections=digests.by_collection())
