"""The client whose request the current task answers, for what clients share fairly."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Final


class Requester:
    """The client of a request: the network that it is in, and whether it has disconnected."""

    def __init__(self, network: str = "") -> None:
        self.network = network
        self.has_left = False

    def wait_elsewhere(self) -> None:
        """Notes that the request waits in a queue of its own from now on, and so takes no room
        among the requests that are answered."""


_current: Final[ContextVar[Requester | None]] = ContextVar("requester", default=None)


def begin(requester: Requester) -> None:
    """Makes this the client for whom the current task, and all that it starts, works."""
    _current.set(requester)


def current() -> Requester:
    """Returns the client for whom the current task works; one without a network if it answers no
    request."""
    return _current.get() or Requester()
