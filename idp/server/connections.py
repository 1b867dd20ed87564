"""The open connections of a process: how many there may be, and which one makes room.

When all places are taken, the longest idle connection of the client that holds most is closed for
a new one; a connection with a request under way never is. A client is an IPv4 address or an IPv6
/64 network. Without a lack of places, no client has a limit of its own.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from idp.foundation.network_keys import network_key


@dataclass(eq=False, slots=True)
class Connection:
    """An open connection of a client; `close` ends it at once. `accepted_at` is in seconds of the
    loop.
    """

    client: str
    accepted_at: float
    close: Callable[[], None]


class Connections:
    """The open connections of this process, at most `limit`."""

    def __init__(self, limit: int = 0) -> None:
        self.limit = limit
        self._open: set[Connection] = set()
        self._clients = _Ranking()
        # Each in the order in which they began to be so.
        self._idle: defaultdict[str, OrderedDict[Connection, None]] = defaultdict(OrderedDict)
        self._unused: OrderedDict[Connection, None] = OrderedDict()

    def __len__(self) -> int:
        return len(self._open)

    def add(self, address: str, now: float, close: Callable[[], None]) -> Connection | None:
        """Returns the record of a new, idle connection; None if every place is taken by a request
        under way.
        """
        if len(self._open) >= self.limit and not self.make_room():
            return None
        connection = Connection(network_key(address), now, close)
        self._open.add(connection)
        self._clients.add(connection.client)
        self._unused[connection] = None
        self.rest(connection)
        return connection

    def rest(self, connection: Connection) -> None:
        """Notes that a connection has no request under way. Closed ones are ignored."""
        if connection in self._open:
            self._idle[connection.client][connection] = None

    def work(self, connection: Connection) -> None:
        """Notes that a request has arrived on a connection."""
        self._unused.pop(connection, None)
        waiting = self._idle[connection.client]
        waiting.pop(connection, None)
        if not waiting:
            del self._idle[connection.client]

    def remove(self, connection: Connection) -> None:
        """Notes that a connection is closed; a second time has no effect."""
        if connection in self._open:
            self.work(connection)
            self._open.discard(connection)
            self._clients.remove(connection.client)

    def make_room(self, count: int = 1) -> int:
        """Closes up to `count` idle connections, of the clients that hold most the longest idle;
        returns how many.
        """
        for done in range(count):
            client = next((each for each in self._clients.by_most() if each in self._idle), None)
            if client is None:
                return done
            self._close(next(iter(self._idle[client])))
        return count

    def close_unused(self, accepted_before: float) -> int:
        """Closes the connections accepted before an instant that have sent no request; returns how
        many.
        """
        late = []
        for connection in self._unused:
            if connection.accepted_at > accepted_before:
                break
            late.append(connection)
        for connection in late:
            self._close(connection)
        return len(late)

    def _close(self, connection: Connection) -> None:
        self.remove(connection)
        connection.close()


class _Ranking:
    """Clients by how many connections they hold; every step takes constant time."""

    def __init__(self) -> None:
        self._held: dict[str, int] = {}
        self._clients: defaultdict[int, OrderedDict[str, None]] = defaultdict(OrderedDict)

    def add(self, client: str) -> None:
        self._move(client, 1)

    def remove(self, client: str) -> None:
        self._move(client, -1)

    def by_most(self) -> Iterator[str]:
        """Yields the clients, those that hold most first."""
        for number in sorted(self._clients, reverse=True):
            yield from self._clients[number]

    def _move(self, client: str, step: int) -> None:
        before = self._held.pop(client, 0)
        if before:
            del self._clients[before][client]
            if not self._clients[before]:
                del self._clients[before]
        if before + step:
            self._held[client] = before + step
            self._clients[before + step][client] = None
