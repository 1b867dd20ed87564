"""The turns of organizations at sending logout messages.

The receivers of one organization may be slow, or not answer at all. So each organization has a
separate turn, and all turns run concurrently: what one leaves unsent waits for its next turn.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final

from idp.foundation.clock import Timer
from idp.outgoing.http import MAX_CALLS_PER_OWNER
from idp.records import LogoutMessage

TURN_SECONDS: Final = 5.0  # no attempt begins later in a turn
MAX_MESSAGES: Final = 200  # of a turn

Deliver = Callable[[LogoutMessage], Awaitable[None]]


class LogoutTurns:
    """One turn of each organization, with its messages in the order in which they were added."""

    def __init__(self, timer: Timer) -> None:
        self._timer = timer
        self._by_organization: dict[str | None, deque[LogoutMessage]] = {}
        self.is_unfinished = False

    def add(self, org_id: str | None, message: LogoutMessage) -> None:
        """Adds a message, unless the turn of its organization has as many as it may have: then
        `is_unfinished` says that there is work for another turn."""
        messages = self._by_organization.setdefault(org_id, deque())
        if len(messages) < MAX_MESSAGES:
            messages.append(message)
        else:
            self.is_unfinished = True

    async def take(self, deliver: Deliver) -> None:
        """Attempts to deliver the messages, as many of each organization at once as it may have
        calls. Returns when all attempts have ended. Raises the error of one that failed."""
        ends_at = self._timer.monotonic() + TURN_SECONDS
        lanes = [
            self._lane(messages, deliver, ends_at)
            for messages in self._by_organization.values()
            for _ in range(min(MAX_CALLS_PER_OWNER, len(messages)))
        ]
        for outcome in await asyncio.gather(*lanes, return_exceptions=True):
            if isinstance(outcome, BaseException):
                raise outcome  # its message is due again

    async def _lane(
        self, messages: deque[LogoutMessage], deliver: Deliver, ends_at: float
    ) -> None:
        while messages and self._timer.monotonic() < ends_at:
            await deliver(messages.popleft())
