"""Insertion of many records into empty tables, without waiting for the disk before the end;
indexes are created after the rows.

An index that is created from all rows is sorted and written in order; an index that grows row by
row is read and written in random order. Without waiting for the disk, the last commits may be lost
in a power failure, but the file remains valid, and the program that fills it marks it as
incomplete until the end."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from storage.sqlite import tables
from storage.sqlite.tables import SqliteTable, statement

MAX_UNITS = 5_000


def begin(connection: sqlite3.Connection, loaded: Sequence[SqliteTable]) -> None:
    """Prepares the connection for inserting many records: commits no longer wait for the disk, and
    the tables of `loaded` that are empty lose their indexes except those of ids."""
    connection.execute("PRAGMA synchronous = NORMAL")
    # Sorting any number of rows for an index needs a file.
    connection.execute("PRAGMA temp_store = DEFAULT")
    with _transaction(connection):
        for table in loaded:
            if not connection.execute(statement("SELECT 1 FROM {table}", table.name)).fetchone():
                _drop_indexes(connection, table)


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _drop_indexes(connection: sqlite3.Connection, table: SqliteTable) -> None:
    for name in tables.index_names(table):
        sql = statement("DROP INDEX IF EXISTS {name}", table.name, name=f'"{name}"')
        connection.execute(sql)


def make_indexes(connection: sqlite3.Connection, table: SqliteTable) -> None:
    """Creates the indexes that `begin` dropped. Raises Unsupported if a unique key is not
    unique."""
    with _transaction(connection):
        tables.create(connection, table)


def finish(connection: sqlite3.Connection, path: str, synchronous: str) -> None:
    """Waits until everything that was written is on the disk. `synchronous`, a value of SQLite's
    pragma of that name, determines how later commits wait for the disk."""
    connection.execute(f"PRAGMA synchronous = {synchronous}")
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    # A reader may have prevented a part of the log from being copied.
    for file in (f"{path}-wal", path):
        with suppress(FileNotFoundError):
            _sync(file)


def _sync(path: str) -> None:
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
