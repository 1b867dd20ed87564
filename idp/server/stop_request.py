"""When a process that serves is asked to stop: by a signal, or by the end of its supervisor."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import suppress
from typing import Final

from idp.start import exit_codes

_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)


class StopRequest:
    """The request to stop this process. To be created inside the running event loop.

    `parent` is a descriptor that is closed when the supervisor ends; None without a supervisor.
    SIGINT requests a stop without delay. Without a supervisor, a second signal ends the process
    immediately; a worker leaves that to its supervisor, since an operator who stops a service may
    signal all its processes, so that a worker receives two signals for one stop.
    """

    def __init__(self, parent: int | None) -> None:
        self.requested = asyncio.Event()
        self._is_urgent = asyncio.Event()
        self._parent = parent
        self._loop = asyncio.get_running_loop()
        for number in _SIGNALS:
            self._loop.add_signal_handler(number, self._on_signal, number)
        if parent is not None:
            self._loop.add_reader(parent, self._on_parent_end, parent)

    def stop_now(self) -> None:
        """Requests a stop without a delay."""
        self._is_urgent.set()
        self.requested.set()

    async def delay(self, seconds: float) -> None:
        """Waits for `seconds`, or less if a stop without a delay is requested meanwhile, or was
        requested before."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._is_urgent.wait()

    def _on_signal(self, number: int) -> None:
        if self.requested.is_set() and self._parent is None:
            os._exit(exit_codes.FAILED)
        if number == signal.SIGINT:
            self.stop_now()
        self.requested.set()

    def _on_parent_end(self, parent: int) -> None:
        self._loop.remove_reader(parent)
        self.stop_now()
