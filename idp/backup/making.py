"""Writing of a backup: one consistent state of the store, while the service continues to run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import BinaryIO, Final

from idp import __version__
from idp.backup.contents import (
    COLLECTIONS,
    Head,
    Manifest,
    NewerBackup,
    head_line,
    manifest_line,
    record_line,
)
from idp.backup.sealed_files import SealedWriter
from idp.foundation import base64url
from idp.foundation.clock import Clock
from idp.foundation.errors import NotFound
from idp.foundation.randomness import Random
from idp.records import INSTANCE_ID, INSTANCES, SCHEMA, Instance
from idp.start import master_keys
from storage import META, SCHEMA_ID, MetaRecord, Reader, Store
from storage.filling import CollectionDigests, OnProgress, all_records, encode
from storage.upgrades import check_filled, opening

_NO_INSTALLATION: Final = "there is no installation in this store"


async def write(
    store: Store,
    keys: Sequence[bytes],
    file: BinaryIO,
    passphrase: str,
    *,
    clock: Clock,
    random: Random,
    on_progress: OnProgress = lambda n: None,
) -> Manifest:
    """Writes a backup of all records of the store into `file`, encrypted with the passphrase, in
    constant memory; returns its manifest. `on_progress` is called with the number of records
    written since its last call.

    The store need not be opened with a schema. Raises NotFound if it has no installation;
    ConfigError if `keys` are not the store's; TooNew and NewerBackup if a later version has
    written to it; HalfFilled; StorageError.
    """
    async with store.snapshot() as view:
        schema = await readable_schema(view)
        # A backup with another key could not be used.
        needed_keys = master_keys.needed(await find_installation(view), keys)
        master_key, *old_keys = map(base64url.encode, needed_keys)
        head = Head(
            made_at=clock.now(),
            program=__version__,
            schema=schema,
            master_key=master_key,
            old_master_keys=old_keys,
        )
        writer = SealedWriter(file, passphrase, random)
        writer.write(head_line(head))
        digests = CollectionDigests()
        async for collection, record in all_records(view, COLLECTIONS):
            encoded = encode(record)
            digests.add(collection, encoded)
            writer.write(record_line(collection, encoded))
            on_progress(1)
        manifest = Manifest(collections=digests.by_collection())
        writer.write(manifest_line(manifest))
        writer.finish()
    return manifest


async def readable_schema(view: Reader) -> MetaRecord:
    """Returns the schema record of the store, if this program can read all that it holds.

    Raises NotFound, NewerBackup, TooNew, HalfFilled.
    """
    schema = await view.get(META, SCHEMA_ID)
    if schema is None:
        raise NotFound(_NO_INSTALLATION)
    check_filled(schema)
    opening(schema, SCHEMA)
    if schema.version > SCHEMA.version:
        raise NewerBackup(
            f"the store has schema version {schema.version}, and this program {SCHEMA.version}:"
            " use the version that serves it"
        )
    return schema


async def find_installation(view: Reader) -> Instance:
    """Returns the record of the installation. Raises NotFound."""
    instance = await view.get(INSTANCES, INSTANCE_ID)
    if instance is None:
        raise NotFound(_NO_INSTALLATION)
    return instance
