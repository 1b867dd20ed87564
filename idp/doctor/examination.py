"""The run of all checks by a program other than the running service, such as `idp doctor`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from idp import doctor
from idp.config.settings import Config
from idp.doctor.check import MAX_RECORDS, Installation, Result
from idp.foundation.clock import SystemClock
from idp.foundation.errors import NotFound
from idp.outgoing.http import Outgoing
from idp.records import ALL, SCHEMA
from idp.start import bootstrap, first_start
from storage import META, SCHEMA_ID, StorageError
from storage.upgrades import opening, pending

_NOT_CURRENT: Final = (
    "the store does not have the version of this program: see store.schema and store.indexes"
)


async def of(
    config: Config,
    *,
    is_deep: bool = False,
    outgoing: Outgoing | None = None,
    for_issuer: Callable[[str], Config] | None = None,
) -> list[Result]:
    """Runs every check and returns the results; if the store cannot be opened, the checks that
    need it are skipped.

    With `is_deep`, checks read all records of a collection. `outgoing` makes the HTTP requests, by
    default a new one. `for_issuer` gets the issuer that the store was last served with, once its
    records can be read, and returns the settings to use with it. Raises what `for_issuer` raises.
    """
    installation = Installation(
        config=config,
        clock=SystemClock(),
        store=None,
        has_records=False,
        max_records=None if is_deep else MAX_RECORDS,
        outgoing=outgoing or Outgoing(),
    )
    if config.is_in_memory:
        unreadable = "a store in memory can be read by the service alone"
        return await doctor.examine(replace(installation, store_problem=unreadable))
    try:
        collections = ALL if await _is_current(installation) else ()
        async with bootstrap.as_it_is(config.store, collections, installation.clock) as store:
            if collections and for_issuer is not None:
                config = for_issuer(await first_start.last_issuer(store))
            return await doctor.examine(
                replace(
                    installation,
                    config=config,
                    store=store,
                    has_records=bool(collections),
                    store_problem="" if collections else _NOT_CURRENT,
                )
            )
    except (NotFound, StorageError) as error:
        problem = f"the store can't be used: {error}"
        return await doctor.examine(replace(installation, store_problem=problem))


async def _is_current(installation: Installation) -> bool:
    """Returns whether this program wrote the store, no step of an upgrade is pending, and no table
    or index is missing.

    Only then does opening it with all collections change nothing. Raises NotFound, StorageError.
    """
    bootstrap.check_is_there(installation.config.store)  # opening would create a SQLite file
    async with bootstrap.as_it_is(installation.config.store, (), installation.clock) as store:
        record = await store.get(META, SCHEMA_ID)
        missing = await store.missing_indexes(ALL)
    if record is None or missing or pending(record, SCHEMA):
        return False
    try:
        opening(record, SCHEMA)
    except StorageError:
        return False
    return True
