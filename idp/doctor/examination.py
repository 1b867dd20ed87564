"""The run of all checks by a program other than the running service, such as `idp doctor`."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from contextlib import AsyncExitStack
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

OPENING_SECONDS: Final = 2.5  # of a store on a server
WAITING_SECONDS: Final = 3.0  # for all servers, from the beginning
_NOT_CURRENT: Final = (
    "the store does not have the version of this program: see store.schema and store.indexes"
)


async def run(
    config: Config,
    *,
    is_deep: bool = False,
    outgoing: Outgoing | None = None,
    for_issuer: Callable[[str], Config] | None = None,
) -> list[Result]:
    """Runs every check and returns the results; if the store cannot be opened, the
    checks that need it are skipped.

    With `is_deep`, checks read all records of a collection, however long that takes; without it,
    the checks wait for servers for WAITING_SECONDS in total. `outgoing` makes the HTTP requests,
    by default a new one. `for_issuer` gets the issuer that the store was last served with, once
    its records can be read, and returns the settings to use with it. Raises what `for_issuer`
    raises.
    """
    installation = Installation(
        config=config,
        clock=SystemClock(),
        store=None,
        has_records=False,
        max_records=None if is_deep else MAX_RECORDS,
        outgoing=outgoing or Outgoing(),
        deadline=math.inf if is_deep else asyncio.get_running_loop().time() + WAITING_SECONDS,
    )
    if config.is_in_memory:
        problem = "a store in memory can be read by the service alone"
        return await doctor.examine(replace(installation, store_problem=problem))
    async with AsyncExitStack() as stack:
        try:
            async with asyncio.timeout(_opening_seconds(installation)):
                opened_installation = await _open_store(installation, stack, for_issuer)
        except (NotFound, StorageError) as error:
            opened_installation = replace(
                installation, store_problem=f"the store can't be used: {error}"
            )
        except TimeoutError:
            problem = f"the store can't be used: no answer for {OPENING_SECONDS:.1f} s"
            opened_installation = replace(installation, store_problem=problem)
        return await doctor.examine(opened_installation)


def _opening_seconds(installation: Installation) -> float | None:
    """Returns how long it may take to open the store; None for a file or with `is_deep`."""
    is_on_server = installation.config.store.startswith("mongodb")
    return OPENING_SECONDS if is_on_server and not installation.is_deep else None


async def _open_store(
    installation: Installation,
    stack: AsyncExitStack,
    for_issuer: Callable[[str], Config] | None,
) -> Installation:
    """Returns the installation with its store, which the end of `stack` closes. Raises NotFound,
    StorageError, and what `for_issuer` raises.
    """
    config = installation.config
    collections = ALL if await _is_current(installation) else ()
    opening = bootstrap.open_unchecked(config.store, collections, installation.clock)
    store = await stack.enter_async_context(opening)
    if collections and for_issuer is not None:
        config = for_issuer(await first_start.last_issuer(store))
    return replace(
        installation,
        config=config,
        store=store,
        has_records=bool(collections),
        store_problem="" if collections else _NOT_CURRENT,
    )


async def _is_current(installation: Installation) -> bool:
    """Returns whether this program wrote the store, no step of an upgrade is pending, and no table
    or index is missing.

    Only then does opening it with all collections change nothing. Raises NotFound, StorageError.
    """
    bootstrap.check_store_exists(installation.config.store)  # opening would create a SQLite file
    async with bootstrap.open_unchecked(
        installation.config.store, (), installation.clock
    ) as store:
        record = await store.get(META, SCHEMA_ID)
        missing = await store.missing_indexes(ALL)
    if record is None or missing or pending(record, SCHEMA):
        return False
    try:
        opening(record, SCHEMA)
    except StorageError:
        return False
    return True
