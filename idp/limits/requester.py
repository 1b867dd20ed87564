"""The client whose request the current task answers, for queues that are fair between clients."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Final

from msgspec import Struct


class Requester(Struct, eq=False):
    """The client of a request, by its key (`network_keys.client_key`), and whether it has
    disconnected."""

    key: str = ""
    has_disconnected: bool = False

    def wait_elsewhere(self) -> None:
        """Gives back the request's place among those that are answered, because it waits in
        another queue from now on."""


_current: Final[ContextVar[Requester | None]] = ContextVar("requester", default=None)


def begin(requester: Requester) -> None:
    """Sets the client for whom the current task, and every task that it starts, works."""
    _current.set(requester)


def current() -> Requester:
    """Returns the client for whom the current task works; one without a key if it answers no
    request."""
    return _current.get() or Requester()
