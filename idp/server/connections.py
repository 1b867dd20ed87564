"""The open connections of a process: how many there may be, and which one makes room.

When all places are taken, the longest idle connection of the client that holds most is closed for
a new one; the client is looked for at the site (an IPv6 /48) that holds most. Where no connection
is idle, it is one that waits for its client: for the rest of a request, or for the answer to be
read. Otherwise no other one would get in while a client sends the heads of requests only, or reads
no answer. A connection that waits for the service is never closed. A client is an IPv4 address or
an IPv6 /64 network. Without a lack of places, no client has a limit of its own.

With places left, a connection is closed when it has been idle for too long, and when its client
has read nothing of a response for too long. A client that reads slowly may go on.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import takewhile

from idp.foundation import metrics
from idp.foundation.network_keys import network_key, site_of


@dataclass(eq=False, slots=True)
class Connection:
    """An open connection of a client; `close` ends it at once.

    `idle_since` is when it was accepted or its last request ended, in seconds of the loop.
    `awaits_client` returns whether a request under way waits for the client. `read` returns how
    many bytes of responses the client has received so far, or None if no part of a response waits
    to be sent. `is_handshaking` returns whether the TLS handshake has not been completed.
    """

    client: str
    idle_since: float
    close: Callable[[], None]
    awaits_client: Callable[[], bool] = lambda: False
    read: Callable[[], int | None] = lambda: None
    is_handshaking: Callable[[], bool] = lambda: False
    _last_read: int | None = None
    _read_at: float = 0.0

    def has_stalled(self, now: float, longest_seconds: float) -> bool:
        """Returns whether the client has read nothing of a response for so long, as far as earlier
        calls have found out. `now` is in seconds of the loop."""
        read = self.read()
        if read is None or read != self._last_read:
            self._last_read, self._read_at = read, now
            return False
        return now - self._read_at >= longest_seconds


_Ordered = defaultdict[str, OrderedDict[Connection, None]]


class Connections:
    """The open connections of this process, at most `limit`."""

    def __init__(self, limit: int = 0) -> None:
        self.limit = limit
        self._open: set[Connection] = set()
        self._clients = _Clients()
        # By client, each in the order in which they began to be so.
        self._idle: _Ordered = defaultdict(OrderedDict)
        self._busy: _Ordered = defaultdict(OrderedDict)
        self._unused: OrderedDict[Connection, None] = OrderedDict()
        self._resting: OrderedDict[Connection, None] = OrderedDict()

    def __len__(self) -> int:
        return len(self._open)

    @property
    def active(self) -> int:
        """How many have a request under way."""
        return sum(len(theirs) for theirs in self._busy.values())

    def add(self, address: str, now: float, close: Callable[[], None]) -> Connection | None:
        """Adds a new, idle connection of the client at `address`, closing another one if no place
        is left, and returns its record; None if every place is taken by a request that waits for
        the service. `now` is in seconds of the loop, and `close` ends the connection at once."""
        if len(self._open) >= self.limit and not self.make_room():
            metrics.HTTP_CONNECTIONS_CLOSED.count("full")
            return None
        connection = Connection(network_key(address), now, close)
        self._open.add(connection)
        self._clients.add(connection.client)
        self._unused[connection] = None
        self.rest(connection, now)
        return connection

    def rest(self, connection: Connection, now: float) -> None:
        """Records that a connection has no request in progress from `now` on, in seconds of the
        loop. Has no effect on a closed one."""
        if connection in self._open:
            _discard(self._busy, connection)
            self._idle[connection.client][connection] = None
            connection.idle_since = now
            self._resting[connection] = None
            self._resting.move_to_end(connection)

    def work(self, connection: Connection) -> None:
        """Records that the head of a request has arrived on a connection. Has no effect on a
        closed one."""
        if connection in self._open:
            self._unused.pop(connection, None)
            self._resting.pop(connection, None)
            _discard(self._idle, connection)
            self._busy[connection.client][connection] = None

    def remove(self, connection: Connection) -> None:
        """Records that a connection is closed. A second call has no effect."""
        if connection in self._open:
            self._unused.pop(connection, None)
            self._resting.pop(connection, None)
            _discard(self._idle, connection)
            _discard(self._busy, connection)
            self._open.discard(connection)
            self._clients.remove(connection.client)

    def make_room(self, count: int = 1) -> int:
        """Closes up to `count` connections, and returns how many: idle ones first, then others
        that wait for their clients; of these, each time the one that has waited longest, of a
        client with most connections at the site with most."""
        for done in range(count):
            connection = self._longest_idle() or self._longest_waiting()
            if connection is None:
                return done
            self._close(connection, "full")
        return count

    def _longest_idle(self) -> Connection | None:
        for client in self._clients.by_most():
            if client in self._idle:
                return next(iter(self._idle[client]))
        return None

    def _longest_waiting(self) -> Connection | None:
        for client in self._clients.by_most():
            for connection in self._busy.get(client, ()):
                if connection.awaits_client():
                    return connection
        return None

    def close_unused(self, accepted_before: float) -> None:
        """Closes the connections that were accepted before this instant, in seconds of the loop,
        and have sent no request."""
        for connection in _idle_before(self._unused, accepted_before):
            self._close(connection, "tls" if connection.is_handshaking() else "slow_head")

    def close_idle(self, idle_before: float) -> None:
        """Closes the connections that have been idle since before this instant, in seconds of the
        loop."""
        for connection in _idle_before(self._resting, idle_before):
            self._close(connection, "idle")

    def close_stalled(self, now: float, longest_seconds: float) -> None:
        """Closes the connections whose clients have read nothing of a response for so long. `now`
        is in seconds of the loop; progress is noticed from one call to the next."""
        busy = [connection for theirs in self._busy.values() for connection in theirs]
        for connection in busy:
            if connection.has_stalled(now, longest_seconds):
                self._close(connection, "stalled")

    def _close(self, connection: Connection, reason: str) -> None:
        metrics.HTTP_CONNECTIONS_CLOSED.count(reason)
        self.remove(connection)
        connection.close()


def _idle_before(ordered: OrderedDict[Connection, None], instant: float) -> list[Connection]:
    """Returns the connections that became idle until this instant; `ordered` begins with the one
    that has been idle for longest."""
    return list(takewhile(lambda connection: connection.idle_since <= instant, ordered))


def _discard(by_client: _Ordered, connection: Connection) -> None:
    """Removes a connection, if it is there, and what its client had."""
    theirs = by_client.get(connection.client)
    if theirs is not None:
        theirs.pop(connection, None)
        if not theirs:
            del by_client[connection.client]


class _Clients:
    """Clients by how many connections their sites hold, and of a site by how many they hold."""

    def __init__(self) -> None:
        self._sites = _Ranking()
        self._of_site: defaultdict[str, _Ranking] = defaultdict(_Ranking)

    def add(self, client: str) -> None:
        site = site_of(client)
        self._sites.add(site)
        self._of_site[site].add(client)

    def remove(self, client: str) -> None:
        site = site_of(client)
        self._sites.remove(site)
        self._of_site[site].remove(client)
        if not self._of_site[site]:
            del self._of_site[site]

    def by_most(self) -> Iterator[str]:
        """Yields the clients, those of the site that holds most first."""
        for site in self._sites.by_most():
            yield from self._of_site[site].by_most()


class _Ranking:
    """Clients, or sites, by how many connections they hold; adding and removing take constant
    time."""

    def __init__(self) -> None:
        self._held: dict[str, int] = {}
        self._clients: defaultdict[int, OrderedDict[str, None]] = defaultdict(OrderedDict)

    def __len__(self) -> int:
        return len(self._held)

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
