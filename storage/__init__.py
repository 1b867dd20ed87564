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
    MAX_VALUES,
    META,
    SCHEMA_ID,
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
from storage.following import Follow
from storage.observed_store import ObservedStore
from storage.observer import Batch, Observer, ObserverGroup

__all__ = [
    "BACK_ENDS",
    "COUNTERS",
    "COUNT_CAP",
    "FIRST_SCHEMA",
    "MAX_ID_CHARACTERS",
    "MAX_RECORD_BYTES",
    "META",
    "SCHEMA_ID",
    "MAX_VALUES",
    "Batch",
    "Collection",
    "Conflict",
    "Counter",
    "Cursor",
    "Delete",
    "Follow",
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
    "blocks_writers",
    "open_store",
]

_URLS = "sqlite:///relative/path, sqlite:////absolute/path, memory://, mongodb://, mongodb+srv://"


def open_store(
    url: str,
    *,
    now: Callable[[], datetime],
    new_id: Callable[[], str],
    observers: Sequence[Observer] = (),
    removal_now: Callable[[], datetime] | None = None,
) -> Store:
    """Returns the store for a URL, to be opened inside the event loop. Raises InvalidValue.

    What has expired by `now` is not found. It is removed once it has expired by `removal_now`, by
    default the same clock; MongoDB removes by its own.

    `memory://` is a SQLite file in a temporary directory, which `close` removes. Drivers are
    imported only when they are used. `observers` observe its calls and commands.
    """
    factory = BACK_ENDS.get(url.partition("://")[0])
    removal = {} if removal_now is None else {"removal_now": removal_now}
    store = factory(url, now=now, new_id=new_id, **removal) if factory else None
    if store is None:
        # The URL itself stays out of the message: it may hold a password.
        raise InvalidValue(f"a store's URL is one of {_URLS}")
    if not observers:
        return store
    return ObservedStore(store, observers[0] if len(observers) == 1 else ObserverGroup(observers))


def blocks_writers(url: str, pid: int) -> bool:
    """Returns whether a process of this user holds the lock that every writer of the store needs:
    while it writes, or is about to write. Always False for a store on a server."""
    path = url.removeprefix("sqlite:///")
    if path == url:
        return False
    from storage.sqlite import locks

    return locks.is_held_by(f"{os.path.abspath(path)}-lock", pid)


def _sqlite(url: str, **options: Any) -> Store | None:
    from storage.sqlite import SqliteStore

    path = url.removeprefix("sqlite:///")
    return SqliteStore(path, **options) if path and path != url else None


def _memory(url: str, **options: Any) -> Store | None:
    from storage.sqlite import SqliteStore

    return SqliteStore(None, **options) if url == "memory://" else None


def _mongodb(
    url: str, *, removal_now: Callable[[], datetime] | None = None, **options: Any
) -> Store | None:
    from storage.mongo import MongoStore

    return MongoStore(url, **options) if url.partition("://")[2] else None


# By scheme: the function that returns the store of a URL; None if the URL is malformed.
BACK_ENDS: Final[dict[str, Callable[..., Store | None]]] = {
    "sqlite": _sqlite,
    "memory": _memory,
    "mongodb": _mongodb,
    "mongodb+srv": _mongodb,
}
