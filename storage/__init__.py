"""Documents and units of writes, on SQLite and MongoDB, without any knowledge of identity."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Final

from storage.base import (
    COUNT_CAP,
    COUNTERS,
    FIRST_SCHEMA,
    MAX_ID_CHARACTERS,
    MAX_RECORD_BYTES,
    META,
    SCHEMA_ID,
    VALUES_AT_ONCE,
    Collection,
    Conflict,
    Counter,
    Cursor,
    Delete,
    HalfFilled,
    Insert,
    InvalidValue,
    Key,
    MetaRecord,
    Outcome,
    Page,
    Reader,
    Record,
    Schema,
    Stale,
    StartsWith,
    StorageError,
    Store,
    TooNew,
    Unavailable,
    Undeclared,
    Unit,
    Unknown,
    Unsupported,
    Update,
    UpgradeStep,
    Value,
    Where,
    Write,
)
from storage.compacting import Compacted
from storage.observer import Batch, ObservedStore, Observer, Together

__all__ = [
    "BACK_ENDS",
    "COUNTERS",
    "COUNT_CAP",
    "FIRST_SCHEMA",
    "MAX_ID_CHARACTERS",
    "MAX_RECORD_BYTES",
    "META",
    "SCHEMA_ID",
    "VALUES_AT_ONCE",
    "Batch",
    "Collection",
    "Conflict",
    "Counter",
    "Cursor",
    "Delete",
    "HalfFilled",
    "Insert",
    "InvalidValue",
    "Key",
    "MetaRecord",
    "Observer",
    "Outcome",
    "Page",
    "Reader",
    "Record",
    "Schema",
    "Stale",
    "StartsWith",
    "StorageError",
    "Store",
    "TooNew",
    "Unavailable",
    "Undeclared",
    "Unit",
    "Unknown",
    "Unsupported",
    "Update",
    "UpgradeStep",
    "Value",
    "Where",
    "Write",
    "compact",
    "open_store",
]

_URLS = "sqlite:///relative/path, sqlite:////absolute/path, memory://, mongodb://, mongodb+srv://"


def open_store(
    url: str,
    *,
    now: Callable[[], datetime],
    new_id: Callable[[], str],
    observers: Sequence[Observer] = (),
) -> Store:
    """Returns the store for a URL, to be opened inside the event loop. Raises InvalidValue.

    `memory://` is a SQLite file in a temporary directory, which `close` removes. Drivers are
    imported only when they are used. `observers` observe its calls and commands.
    """
    make = BACK_ENDS.get(url.partition("://")[0])
    store = make(url, now=now, new_id=new_id) if make else None
    if store is None:
        # The URL itself stays out of the message: it may hold a password.
        raise InvalidValue(f"a store's URL is one of {_URLS}")
    if not observers:
        return store
    return ObservedStore(store, observers[0] if len(observers) == 1 else Together(observers))


def compact(url: str) -> Compacted:
    """Writes the file of a store anew, without the free space in it, while no program has it open.

    Raises Unsupported if the store has no file of its own; InUse, NoRoom, Unavailable.
    """
    path = url.removeprefix("sqlite:///")
    if path == url:
        raise Unsupported("only a SQLite file can be compacted; MongoDB has a command of its own")
    from storage.sqlite import compacting

    return compacting.compact(os.path.abspath(path))


def _sqlite(url: str, **clock_and_ids: Any) -> Store | None:
    from storage.sqlite import SqliteStore

    path = url.removeprefix("sqlite:///")
    return SqliteStore(path, **clock_and_ids) if path and path != url else None


def _memory(url: str, **clock_and_ids: Any) -> Store | None:
    from storage.sqlite import SqliteStore

    return SqliteStore(None, **clock_and_ids) if url == "memory://" else None


def _mongodb(url: str, **clock_and_ids: Any) -> Store | None:
    from storage.mongo import MongoStore

    return MongoStore(url, **clock_and_ids) if url.partition("://")[2] else None


# By scheme: the function that returns the store of a URL; None when it is no such URL.
BACK_ENDS: Final[dict[str, Callable[..., Store | None]]] = {
    "sqlite": _sqlite,
    "memory": _memory,
    "mongodb": _mongodb,
    "mongodb+srv": _mongodb,
}
