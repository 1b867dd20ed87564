"""Measures the connections of a driver: how many there are, and how long commands wait for one."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress
from typing import Final

from pymongo.monitoring import (
    ConnectionCheckedInEvent,
    ConnectionCheckedOutEvent,
    ConnectionCheckOutFailedEvent,
    ConnectionCheckOutStartedEvent,
    ConnectionClosedEvent,
    ConnectionCreatedEvent,
    ConnectionPoolListener,
    ConnectionReadyEvent,
    PoolClearedEvent,
    PoolClosedEvent,
    PoolCreatedEvent,
    PoolReadyEvent,
)

from storage.observer import Observer

REPORT_SECONDS: Final = 0.25

_Event = (
    ConnectionCheckedInEvent
    | ConnectionCheckedOutEvent
    | ConnectionClosedEvent
    | ConnectionCreatedEvent
)
_Connection = tuple[object, int]


class PoolListener(ConnectionPoolListener):
    """Reports the connections of a driver to an observer, in the event loop of its creation and
    REPORT_SECONDS after a change: a driver calls it for every command, perhaps in another thread.
    """

    def __init__(self, observer: Observer) -> None:
        self._observer = observer
        self._loop = asyncio.get_running_loop()
        self._open: set[_Connection] = set()
        self._active: set[_Connection] = set()
        self._wait_seconds: deque[float] = deque()
        self._is_report_scheduled = False

    def connection_created(self, event: ConnectionCreatedEvent) -> None:
        self._open.add(_connection(event))
        self._changed()

    def connection_closed(self, event: ConnectionClosedEvent) -> None:
        self._open.discard(_connection(event))
        self._active.discard(_connection(event))
        self._changed()

    def connection_checked_out(self, event: ConnectionCheckedOutEvent) -> None:
        self._active.add(_connection(event))
        self._wait_seconds.append(event.duration or 0.0)
        self._changed()

    def connection_check_out_failed(self, event: ConnectionCheckOutFailedEvent) -> None:
        self._wait_seconds.append(event.duration or 0.0)
        self._changed()

    def connection_checked_in(self, event: ConnectionCheckedInEvent) -> None:
        self._active.discard(_connection(event))
        self._changed()

    def _changed(self) -> None:
        if not self._is_report_scheduled:
            self._is_report_scheduled = True
            with suppress(RuntimeError):  # the loop was closed meanwhile
                self._loop.call_soon_threadsafe(
                    self._loop.call_later, REPORT_SECONDS, self._report
                )

    def _report(self) -> None:
        self._is_report_scheduled = False
        # Another thread may add a value meanwhile.
        waits = [self._wait_seconds.popleft() for _ in range(len(self._wait_seconds))]
        active = len(self._active)
        self._observer.pool(active, max(0, len(self._open) - active))
        self._observer.pool_waits("driver", waits)

    # The other events of a driver change no count.

    def pool_created(self, event: PoolCreatedEvent) -> None: ...

    def pool_ready(self, event: PoolReadyEvent) -> None: ...

    def pool_cleared(self, event: PoolClearedEvent) -> None: ...

    def pool_closed(self, event: PoolClosedEvent) -> None: ...

    def connection_ready(self, event: ConnectionReadyEvent) -> None: ...

    def connection_check_out_started(self, event: ConnectionCheckOutStartedEvent) -> None: ...


def _connection(event: _Event) -> _Connection:
    return event.address, event.connection_id
