"""The yardstick of SQLite: Python's sqlite3 on the same file, written by hand.

It blocks, so there are no concurrent calls; every statement outside a transaction is a durable
commit of its own.
"""

from __future__ import annotations

import os
import sqlite3
from typing import Final

import msgspec

from benchmarks.storage.contract import AT_ONCE, key_of, keys_of
from benchmarks.storage.records import (
    Account,
    Grant,
    Happening,
    Visit,
    account,
    id_of,
)
from benchmarks.storage.rounds import Work

READ: Final = "SELECT doc FROM accounts WHERE id = ?"
READ_KEY: Final = "SELECT doc FROM accounts WHERE json_extract(doc, '$.login_key') IS ?"
UPDATE: Final = """UPDATE accounts
    SET doc = json_set(doc, '$.sequence', json_extract(doc, '$.sequence') + 1)
    WHERE id = ? AND json_extract(doc, '$.state') = 'active'"""
INSERT: Final = "INSERT INTO accounts(id, doc, marks) VALUES (?, ?, '')"
HAPPENED: Final = "INSERT INTO happenings(id, doc, marks) VALUES (?, ?, '')"
COUNT: Final = """INSERT INTO counters(id, doc, marks)
    VALUES (?, '{"n": 1, "expires_at": "2999-01-01T00:00:00.000Z"}', '')
    ON CONFLICT(id) DO UPDATE SET doc = json_set(doc, '$.n', json_extract(doc, '$.n') + 1)"""


class RawSqlite:
    """A separate connection to the store's file, as durable as the store's."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None, cached_statements=512)
        self._connection.text_factory = bytes
        self._connection.execute("PRAGMA synchronous = FULL")
        self._execute = self._connection.execute

    def close(self) -> None:
        self._connection.close()

    def row(self) -> Work:
        execute = self._execute
        return Work("select", lambda n: execute(READ, (id_of(n),)).fetchone(), 0)

    def decoded(self) -> Work:
        execute, decode = self._execute, msgspec.json.Decoder(Account).decode
        return Work(
            "select, decoded", lambda n: decode(execute(READ, (id_of(n),)).fetchone()[0]), 0
        )

    def three(self) -> Work:
        reads = [
            (f"SELECT doc FROM {table} WHERE id = ?", msgspec.json.Decoder(record).decode)
            for table, record in (("accounts", Account), ("visits", Visit), ("grants", Grant))
        ]

        def once(n: int) -> None:
            for sql, decode in reads:
                decode(self._execute(sql, (id_of(n),)).fetchone()[0])

        return Work("three selects, decoded", once, 0)

    def find_each(self) -> Work:
        decode = msgspec.json.Decoder(Account).decode

        def once(n: int) -> None:
            rows = [self._execute(READ_KEY, (key,)).fetchone() for key in keys_of(n)]
            assert [decode(row[0]) for row in rows if row]

        return Work("select by key, decoded", once, 0, AT_ONCE)

    def update(self) -> Work:
        return Work("update", lambda n: self._execute(UPDATE, (id_of(n),)), 0)

    def insert(self) -> Work:
        def once(n: int) -> None:
            self._execute(INSERT, _account(f"raw-{n}"))

        return Work("insert", once, 0)

    def update_and_event(self) -> Work:
        def once(n: int) -> None:
            self._execute("BEGIN IMMEDIATE")
            self._execute(UPDATE, (id_of(n),))
            self._execute(HAPPENED, _happening(f"raw-{n}"))
            self._execute("COMMIT")

        return Work("transaction", once, 0)

    def many(self, writes: int) -> Work:
        def once(n: int) -> None:
            ids = [f"raw-{writes}-{n}-{m}" for m in range(AT_ONCE)]
            self._execute("BEGIN IMMEDIATE")
            self._connection.executemany(INSERT, [_account(record_id) for record_id in ids])
            if writes > 1:
                self._connection.executemany(
                    HAPPENED, [_happening(record_id) for record_id in ids]
                )
            self._execute("COMMIT")

        return Work("executemany", once, 0, AT_ONCE)

    def increment(self) -> Work:
        return Work("upsert", lambda n: self._execute(COUNT, (f"raw-{key_of(n)}",)), 0)


def _account(record_id: str) -> tuple[str, str]:
    return record_id, msgspec.json.encode(account(record_id)).decode()


def _happening(record_id: str) -> tuple[str, str]:
    return record_id, msgspec.json.encode(Happening(id=record_id, aggregate=record_id)).decode()
