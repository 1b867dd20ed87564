"""The commands that a service sends to its database, and how many of them wait for one another.

On MongoDB they are counted by PyMongo's command monitoring, behind a proxy that holds each answer
back for a while: commands that were sent together are then under way together. On SQLite a command
is a statement that reads or writes.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple
from urllib.parse import urlsplit

import pymongo.monitoring

from tests.support.servers.lossy_proxy import LossyProxy, read_message

_HELD_BACK_SECONDS = 0.008
_THE_DRIVERS = {"hello", "isMaster", "endSessions"}  # by which it watches the servers
_SWEEPS = ("max(id)", "'$.expires_at') <")  # statements that remove what has expired


class Counted(NamedTuple):
    """How many commands were sent, and how many of them followed one another."""

    commands: int
    sequence: int


class MongoCommands(pymongo.monitoring.CommandListener):
    """The commands that MongoDB was sent: from when to when each was under way.

    What failed, and a transaction that was aborted, is repeated on a busy machine: `retried` are
    the commands of that, which are not counted as sent.
    """

    def __init__(self) -> None:
        self.seconds = 0.0  # for which an answer is held back
        self.retried = 0
        self._begun: dict[int, tuple[float, object]] = {}
        self._spans: list[tuple[float, float]] = []
        self._transactions: dict[object, list[tuple[float, float]]] = {}

    def watch(self, store) -> None:
        self.seconds = _HELD_BACK_SECONDS

    def stop(self) -> None:
        self.seconds = 0.0

    def started(self, event) -> None:
        if event.command_name in _THE_DRIVERS:
            return
        transaction = _transaction_of(event.command)
        if event.command_name == "abortTransaction":
            self.retried += len(self._transactions.pop(transaction, ()))
        else:
            self._begun[event.request_id] = time.perf_counter(), transaction

    def succeeded(self, event) -> None:
        if event.request_id not in self._begun:
            return
        began, transaction = self._begun.pop(event.request_id)
        span = began, time.perf_counter()
        if transaction is None:
            self._spans.append(span)
        else:
            self._transactions.setdefault(transaction, []).append(span)
        if event.command_name == "commitTransaction":
            self._spans += self._transactions.pop(transaction)

    def failed(self, event) -> None:
        self.retried += self._begun.pop(event.request_id, None) is not None

    def taken(self) -> Counted:
        """What was sent since it was asked last."""
        spans, self._spans = self._spans, []
        return Counted(len(spans), _longest_chain(spans))


def _transaction_of(command) -> object:
    """Which transaction a command belongs to, None if to none."""
    if command.get("autocommit", True):
        return None
    return bytes(command["lsid"]["id"]), command["txnNumber"]


@asynccontextmanager
async def slowed(url: str, commands: MongoCommands) -> AsyncIterator[str]:
    """The URL of a proxy before the server of `url` that holds back its answers."""
    parts = urlsplit(url)
    async with _SlowProxy(parts.hostname, parts.port, commands).running() as proxy:
        yield parts._replace(
            netloc=f"127.0.0.1:{proxy.port}", query="directConnection=true"
        ).geturl()


class _SlowProxy(LossyProxy):
    def __init__(self, host, port, commands) -> None:
        super().__init__(host, port)
        self._commands = commands

    async def _answers(self, upstream, writer, doomed) -> None:
        loop = asyncio.get_running_loop()
        while True:
            loop.call_later(self._commands.seconds, writer.write, await read_message(upstream))


class SqliteCommands:
    """The statements of an open SQLite store that read or write; each waits for the one before."""

    def __init__(self) -> None:
        self._statements: list[str] = []
        self._connections: list[sqlite3.Connection] = []

    def watch(self, store) -> None:
        self._connections = [store._reader._connection, store._writer._connection]
        for connection in self._connections:
            connection.set_trace_callback(self._statements.append)

    def stop(self) -> None:
        for connection in self._connections:
            connection.set_trace_callback(None)

    def taken(self) -> Counted:
        """What was run since it was asked last."""
        counted = sum(map(_is_counted, self._statements))
        self._statements.clear()
        return Counted(counted, counted)


def _is_counted(sql: str) -> bool:
    is_access = sql.lstrip().startswith(
        ("SELECT", "INSERT", "UPDATE", "DELETE", "WITH", "REPLACE")
    )
    return is_access and not any(words in sql for words in _SWEEPS)


def _longest_chain(spans: list[tuple[float, float]]) -> int:
    """The greatest number of commands of which each began after the end of the one before."""
    length, last = 0, 0.0
    for began, ended in sorted(spans, key=lambda span: span[1]):
        if began >= last:
            length, last = length + 1, ended
    return length
