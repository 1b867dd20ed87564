"""Refused requests that wait in this process until they are stored.

Only some refusals a second are stored. The others wait here, the newest 200 of each client, and
clients take turns: one that is refused a thousand times a second pushes out its own refusals
only. A client_id is what a request states; whether an application has it is known later. Until
then its refusals have room of their own, so invented ids push out none of an application.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Collection
from typing import Final, Generic, TypeVar

MAX_OF_CLIENT: Final = 200
MAX_WAITING: Final = 2_000  # of all applications: some megabytes
MAX_UNCHECKED: Final = 1_000  # of all ids that no application may have
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
        self._unchecked: dict[str, deque[T]] = {}
        self._unchecked_waiting = 0
        self._clients: OrderedDict[str, _KnownClient[T]] = OrderedDict()
        self._known_waiting = 0
        self.is_flush_due = False

    @property
    def waiting(self) -> int:
        """How many refusals wait."""
        return self._known_waiting + self._unchecked_waiting

    def has_room(self, client_id: str) -> bool:
        """Returns whether a refusal of this id can wait: an application has the id, or few
        refusals wait whose ids are not known. Without room, `check` has to come first."""
        return client_id in self._clients or self._unchecked_waiting < MAX_UNCHECKED

    def hold(self, client_id: str, refusal: T) -> None:
        """Lets a refusal wait, if there is room. Drops the oldest one of the client, or of the
        application with most waiting ones, if there are too many."""
        client = self._clients.get(client_id)
        if client is not None:
            client.waiting.append(refusal)
            self._known_waiting += 1
            self._drop_oldest(client)
        elif self.has_room(client_id):
            waiting = self._unchecked.setdefault(client_id, deque(maxlen=MAX_OF_CLIENT))
            self._unchecked_waiting += len(waiting) < MAX_OF_CLIENT
            waiting.append(refusal)

    def _drop_oldest(self, client: _KnownClient[T]) -> None:
        if len(client.waiting) > MAX_OF_CLIENT:
            client.waiting.popleft()
            self._known_waiting -= 1
        while self._known_waiting > MAX_WAITING:
            max(self._clients.values(), key=lambda each: len(each.waiting)).waiting.popleft()
            self._known_waiting -= 1

    def unchecked_ids(self) -> list[str]:
        """Returns the ids of which it is not known whether an application has them."""
        return list(self._unchecked)

    def check(self, client_ids: Collection[str], known_ids: Collection[str]) -> None:
        """Drops the refusals of those `client_ids` that no application has; it has the
        `known_ids`."""
        for client_id in client_ids:
            waiting = self._unchecked.pop(client_id, deque())
            self._unchecked_waiting -= len(waiting)
            if client_id not in known_ids:
                self._forget(client_id)
            elif client_id not in self._clients:
                self._add(client_id, _KnownClient(deque(waiting)))

    def _add(self, client_id: str, client: _KnownClient[T]) -> None:
        if len(self._clients) >= MAX_CLIENTS:
            idle = (each for each, known in self._clients.items() if not known.waiting)
            self._forget(next(idle, next(iter(self._clients))))
        self._clients[client_id] = client
        self._known_waiting += len(client.waiting)
        self._drop_oldest(client)

    def _forget(self, client_id: str) -> None:
        client = self._clients.pop(client_id, None)
        if client is not None:
            self._known_waiting -= len(client.waiting)

    def next_ones(self, limit: int) -> list[tuple[str, T]]:
        """Returns waiting refusals with their client ids: by turns one of each client, its oldest
        first. They wait until `end`."""
        ones: list[tuple[str, T]] = []
        queues = [(each, iter(client.waiting)) for each, client in self._clients.items()]
        while queues and len(ones) < limit:
            turns = [(each, queue, next(queue, None)) for each, queue in queues]
            ones += [(each, one) for each, _, one in turns if one is not None]
            queues = [(each, queue) for each, queue, one in turns if one is not None]
        return ones[:limit]

    def end(self, client_id: str, refusal: T, record_id: str) -> None:
        """Ends the waiting of a refusal that was stored, and the turn of its client. Remembers the
        id of its record, in the place of the one that it replaces."""
        client = self._clients.get(client_id)
        if client is None:
            return
        self._clients.move_to_end(client_id)
        if client.waiting and client.waiting[0] is refusal:  # else newer ones have pushed it out
            client.waiting.popleft()
            self._known_waiting -= 1
        client.stored_ids.append(record_id)
        if len(client.stored_ids) > MAX_OF_CLIENT:
            client.stored_ids.popleft()

    def replaced_ids(self, client_id: str, count: int) -> list[str]:
        """Returns the ids of the records that so many more of the client replace; none while it
        has fewer."""
        client = self._clients.get(client_id)
        if client is None:
            return []
        surplus = len(client.stored_ids) + count - MAX_OF_CLIENT
        return list(client.stored_ids)[: max(surplus, 0)]
