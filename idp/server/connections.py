"""The open connections of a process: how many there may be, and which ones are closed.

A client is an IPv4 address or an IPv6 /48 network (`network_keys.client_key`). When the number is
reached, a new connection replaces an idle one: of the client with the most connections among those
with an idle one, the connection that has been idle longest. If no connection of any client is
idle, one is closed that waits for its client: to send the rest of a request, or to read the
response. Otherwise a client that sends only the heads of requests, or reads no response, could
keep all others out. A connection whose request is being processed by the service is never closed
for another one. Below the number, a client may have any number of connections.

At any number, a connection is closed when it has been idle for too long, and when its client reads
a response at less than the least rate. A client that reads slowly, but not that slowly, keeps its
connection.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import Final

from idp.foundation import metrics
from idp.foundation.network_keys import client_key

LEAST_BYTES_PER_SECOND: Final = 1024


@dataclass(eq=False, slots=True)
class Connection:
    """An open connection of a client; `close` ends it immediately.

    `idle_since` is when it was accepted or its last request ended, in seconds of the loop.
    `awaits_client` returns whether a request in progress waits for the client. `bytes_read`
    returns how many bytes of responses the client has received so far, or None if no part of a
    response waits to be sent. `is_handshaking` returns whether the TLS handshake has not been
    completed.
    """

    client: str
    idle_since: float
    close: Callable[[], None]
    awaits_client: Callable[[], bool] = lambda: False
    bytes_read: Callable[[], int | None] = lambda: None
    is_handshaking: Callable[[], bool] = lambda: False
    _bytes_read_before: int | None = None
    _measured_since: float = 0.0

    def has_stalled(self, now: float, longest_seconds: float) -> bool:
        """Returns whether the client has read less of a response in `longest_seconds` than it has
        to at the least rate. Each call compares with those before, so they must be made regularly.
        `now` is in seconds of the loop."""
        bytes_read, before = self.bytes_read(), self._bytes_read_before
        least = longest_seconds * LEAST_BYTES_PER_SECOND
        if bytes_read is None or before is None or bytes_read - before >= least:
            self._bytes_read_before, self._measured_since = bytes_read, now
            return False
        return now - self._measured_since >= longest_seconds


_ByClient = defaultdict[str, OrderedDict[Connection, None]]


class Connections:
    """The open connections of this process, at most `limit`."""

    def __init__(self, limit: int = 0) -> None:
        self.limit = limit
        self._open: set[Connection] = set()
        self._clients = _Ranking()
        # By client, each in the order in which they became idle or busy.
        self._idle: _ByClient = defaultdict(OrderedDict)
        self._busy: _ByClient = defaultdict(OrderedDict)
        # Of all clients, each in the order in which they were accepted or became idle.
        self._unused: OrderedDict[Connection, None] = OrderedDict()
        self._idle_order: OrderedDict[Connection, None] = OrderedDict()

    def __len__(self) -> int:
        return len(self._open)

    @property
    def active(self) -> int:
        """How many have a request in progress."""
        return sum(len(connections) for connections in self._busy.values())

    def add(self, address: str, now: float, close: Callable[[], None]) -> Connection | None:
        """Adds a new, idle connection of the client at `address` and returns its record. If
        `limit` is reached, closes another one first; returns None if none may be closed, because
        every one has a request that the service is processing. `now` is in seconds of the loop,
        and `close` ends the connection immediately."""
        if len(self._open) >= self.limit and not self.make_room():
            metrics.HTTP_CONNECTIONS_CLOSED.count("full")
            return None
        connection = Connection(client_key(address), now, close)
        self._open.add(connection)
        self._clients.add(connection.client)
        self._unused[connection] = None
        self.mark_idle(connection, now)
        return connection

    def mark_idle(self, connection: Connection, now: float) -> None:
        """Records that a connection has no request in progress from `now` on, in seconds of the
        loop. Has no effect on a closed one."""
        if connection in self._open:
            _discard(self._busy, connection)
            self._idle[connection.client][connection] = None
            connection.idle_since = now
            self._idle_order[connection] = None
            self._idle_order.move_to_end(connection)

    def mark_busy(self, connection: Connection) -> None:
        """Records that the head of a request has arrived on a connection. Has no effect on a
        closed one."""
        if connection in self._open:
            self._unused.pop(connection, None)
            self._idle_order.pop(connection, None)
            _discard(self._idle, connection)
            self._busy[connection.client][connection] = None

    def remove(self, connection: Connection) -> None:
        """Records that a connection is closed. A second call has no effect."""
        if connection in self._open:
            self._unused.pop(connection, None)
            self._idle_order.pop(connection, None)
            _discard(self._idle, connection)
            _discard(self._busy, connection)
            self._open.discard(connection)
            self._clients.remove(connection.client)

    def make_room(self, count: int = 1) -> int:
        """Closes up to `count` connections in favour of new ones, and returns how many were
        closed.

        Idle connections are closed first, then those that wait for their clients. Of either kind,
        each time the client with the most connections is chosen, and of its connections the one
        that has been idle, or busy, longest."""
        for closed_count in range(count):
            connection = self._longest_idle() or self._longest_waiting()
            if connection is None:
                return closed_count
            self._close(connection, "full")
        return count

    def _longest_idle(self) -> Connection | None:
        for client in self._clients.most_first():
            if client in self._idle:
                return next(iter(self._idle[client]))
        return None

    def _longest_waiting(self) -> Connection | None:
        for client in self._clients.most_first():
            for connection in self._busy.get(client, ()):
                if connection.awaits_client():
                    return connection
        return None

    def close_unused(self, accepted_before: float) -> None:
        """Closes the connections that were accepted at or before `accepted_before`, an instant in
        seconds of the loop, and whose clients have sent no request."""
        for connection in _idle_before(self._unused, accepted_before):
            self._close(connection, "tls" if connection.is_handshaking() else "slow_head")

    def is_one_unused_since(self, instant: float) -> bool:
        """Returns whether a connection was accepted after this instant, in seconds of the loop,
        whose client has sent no request yet."""
        newest = next(reversed(self._unused), None)
        return newest is not None and newest.idle_since > instant

    def close_idle(self, idle_before: float) -> None:
        """Closes the connections that became idle at or before `idle_before`, an instant in
        seconds of the loop, and have had no request since."""
        for connection in _idle_before(self._idle_order, idle_before):
            self._close(connection, "idle")

    def close_stalled(self, now: float, longest_seconds: float) -> None:
        """Closes the connections whose clients have read a response at less than the least rate
        for `longest_seconds`. Each call compares with those before, so they must be made
        regularly. `now` is in seconds of the loop."""
        busy = [connection for each in self._busy.values() for connection in each]
        for connection in busy:
            if connection.has_stalled(now, longest_seconds):
                self._close(connection, "stalled")

    def _close(self, connection: Connection, reason: str) -> None:
        metrics.HTTP_CONNECTIONS_CLOSED.count(reason)
        self.remove(connection)
        connection.close()


def _idle_before(ordered: OrderedDict[Connection, None], instant: float) -> list[Connection]:
    """Returns the connections that became idle at or before this instant; `ordered` begins with
    the one that has been idle longest."""
    return list(takewhile(lambda connection: connection.idle_since <= instant, ordered))


def _discard(by_client: _ByClient, connection: Connection) -> None:
    """Removes a connection if it is there, and its client's entry if that is empty then."""
    connections = by_client.get(connection.client)
    if connections is not None:
        connections.pop(connection, None)
        if not connections:
            del by_client[connection.client]


class _Ranking:
    """Clients, ordered by how many connections they have; adding and removing take constant
    time."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._by_count: defaultdict[int, OrderedDict[str, None]] = defaultdict(OrderedDict)

    def add(self, client: str) -> None:
        self._change(client, 1)

    def remove(self, client: str) -> None:
        self._change(client, -1)

    def most_first(self) -> Iterator[str]:
        """Yields the clients, those with more connections first."""
        for count in sorted(self._by_count, reverse=True):
            yield from self._by_count[count]

    def _change(self, client: str, step: int) -> None:
        before = self._counts.pop(client, 0)
        if before:
            del self._by_count[before][client]
            if not self._by_count[before]:
                del self._by_count[before]
        if before + step:
            self._counts[client] = before + step
            self._by_count[before + step][client] = None
