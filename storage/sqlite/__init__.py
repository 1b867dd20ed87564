"""The embedded back end: one SQLite file, read on the event loop, written by one thread."""

from storage.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
