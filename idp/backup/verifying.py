"""Reading of a whole store, to find out whether it is what was written into it."""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec import Struct

from idp.backup.contents import COLLECTIONS, Manifest
from idp.backup.making import installation, readable
from idp.config.settings import Config
from idp.foundation.clock import SystemClock
from idp.foundation.errors import IdpError
from idp.foundation.randomness import SystemRandom
from idp.keys.master_key import MasterKey
from idp.records import ALL
from idp.start import bootstrap, first_start
from storage import MetaRecord, Reader
from storage.filling import OnProgress, Tallies, encode, every

_MAX_DAMAGE: Final = 10  # as many sentences about a damaged file


class DamagedStore(IdpError):
    """The error that a store holds what can't be read, or that its file is damaged."""

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

    Raises DamagedStore; ConfigError and WrongKey if the key is missing or another one; NotFound,
    NewerBackup, TooNew, HalfFilled, StorageError.
    """
    bootstrap.check_is_there(config.store)
    key = MasterKey(bootstrap.master_key(config, SystemRandom(), is_new=False))
    async with bootstrap.as_it_is(config.store, ALL, SystemClock()) as store:
        damage = await store.damage(_MAX_DAMAGE)
        if damage:
            raise DamagedStore("; ".join(damage))
        async with store.snapshot() as view:
            schema = await readable(view)
            first_start.check_key(await installation(view), key)
            return VerifiedStore(schema, await _read(view, on_progress))


async def _read(view: Reader, on_progress: OnProgress) -> Manifest:
    tallies = Tallies()
    for collection in COLLECTIONS:
        try:
            async for stored, record in every(view, [collection]):
                tallies.add(stored, encode(record))
                on_progress(1)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise DamagedStore(f"a record of {collection.name} can't be read: {error}") from None
    return Manifest(collections=tallies.by_collection())
