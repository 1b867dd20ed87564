"""Documents, and nothing about identity: the contract's words, and a store for a URL."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from storage.base import (
    COUNT_CAP,
    COUNTERS,
    MAX_ID_CHARACTERS,
    MAX_RECORD_BYTES,
    META,
    Collection,
    Conflict,
    Counter,
    Cursor,
    Delete,
    Insert,
    InvalidValue,
    Key,
    Outcome,
    Page,
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
    Value,
    View,
    Where,
    Write,
)

__all__ = [
    "COUNTERS",
    "COUNT_CAP",
    "MAX_ID_CHARACTERS",
    "MAX_RECORD_BYTES",
    "META",
    "Collection",
    "Conflict",
    "Counter",
    "Cursor",
    "Delete",
    "Insert",
    "InvalidValue",
    "Key",
    "Outcome",
    "Page",
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
    "Value",
    "View",
    "Where",
    "Write",
    "open_store",
]

_SCHEMES = (
    "sqlite:///relative/path, sqlite:////absolute/path, memory://, mongodb://, mongodb+srv://"
)


def open_store(url: str, *, now: Callable[[], datetime], new_id: Callable[[], str]) -> Store:
    """The store for a URL, to be opened inside the event loop. Raises InvalidValue.

    `memory://` is a SQLite file in a temporary directory, gone after `close`. Drivers are
    imported only when they are used.
    """
    scheme, _, rest = url.partition("://")
    if scheme in ("mongodb", "mongodb+srv") and rest:
        from storage.mongo import MongoStore

        return MongoStore(url, now=now, new_id=new_id)
    is_file = scheme == "sqlite" and len(rest) > 1 and rest[0] == "/"
    if not is_file and url != "memory://":
        # The URL itself stays out of the message: it may hold a password.
        raise InvalidValue(f"a store's URL is one of {_SCHEMES}")
    from storage.sqlite import SqliteStore

    return SqliteStore(rest[1:] if is_file else None, now=now, new_id=new_id)
