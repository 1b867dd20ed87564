"""Refused requests that wait in this process until they are stored.

So many refusals may be stored in a second. Those beyond that wait, the newest 200 of each client,
and clients take turns: one that is refused a thousand times a second pushes out its own refusals
only. A client_id is what a request states; whether an application has it is known later.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Collection
from typing import Final, Generic, TypeVar

MAX_OF_CLIENT: Final = 200
MAX_WAITING: Final = 2_000  # of all clients: some megabytes
MAX_CLIENTS: Final = 1_000

T = TypeVar("T")


class _KnownClient(Generic[T]):
    """The waiting refusals of an application, and the ids of the records that were stored for
    those before."""

    def __init__(self, waiting: deque[T]) -> None:
        self.waiting = waiting
        self.stored_ids: deque[str] = deque()


class HeldRefusals(Generic[T]):
    """The waiting refusals of this process."""

    def __init__(self) -> None:
        self._unchecked: OrderedDict[str, deque[T]] = OrderedDict()
        self._clients: OrderedDict[str, _KnownClient[T]] = OrderedDict()
        self.waiting = 0
        self.is_flush_due = False

    def hold(self, client_id: str, refusal: T) -> None:
        """Lets a refusal wait. Drops the oldest one of the client, or of the client with most
        waiting ones, if there are too many; before that, those of ids that no application may
        have."""
        client = self._clients.get(client_id)
        if client is None:
            waiting = self._unchecked.setdefault(client_id, deque())
        else:
            waiting = client.waiting
        waiting.append(refusal)
        self.waiting += 1
        if len(waiting) > MAX_OF_CLIENT:
            waiting.popleft()
            self.waiting -= 1
        elif self.waiting > MAX_WAITING:
            self._drop()

    def _drop(self) -> None:
        if self._unchecked:
            self.waiting -= len(self._unchecked.popitem(last=False)[1])
        else:
            max(self._clients.values(), key=lambda client: len(client.waiting)).waiting.popleft()
            self.waiting -= 1

    def unchecked_ids(self, limit: int) -> list[str]:
        """Returns ids of which it is not known whether an application has them, the oldest
        first."""
        return list(self._unchecked)[:limit]

    def check(self, client_ids: Collection[str], known_ids: Collection[str]) -> None:
        """Drops the refusals of those `client_ids` that no application has; it has the
        `known_ids`."""
        for client_id in client_ids:
            waiting = self._unchecked.pop(client_id, None)
            if waiting is None:
                continue
            if client_id in known_ids:
                self._add(client_id, waiting)
            else:
                self.waiting -= len(waiting)

    def _add(self, client_id: str, waiting: deque[T]) -> None:
        if len(self._clients) >= MAX_CLIENTS:
            self.waiting -= len(self._clients.popitem(last=False)[1].waiting)
        self._clients[client_id] = _KnownClient(waiting)

    def take(self, limit: int) -> list[tuple[str, T]]:
        """Returns waiting refusals with their client ids, no longer waiting: by turns one of each
        client, its oldest first."""
        taken: list[tuple[str, T]] = []
        while len(taken) < limit:
            ids = [each for each, client in self._clients.items() if client.waiting]
            if not ids:
                break
            for client_id in ids[: limit - len(taken)]:
                taken.append((client_id, self._clients[client_id].waiting.popleft()))
                self._clients.move_to_end(client_id)
        self.waiting -= len(taken)
        return taken

    def replaced_by(self, client_id: str, record_id: str) -> str | None:
        """Remembers the id of a record to store, and returns that of the one that it replaces;
        None while the client has fewer."""
        client = self._clients.get(client_id)
        if client is None:
            return None
        client.stored_ids.append(record_id)
        return client.stored_ids.popleft() if len(client.stored_ids) > MAX_OF_CLIENT else None
