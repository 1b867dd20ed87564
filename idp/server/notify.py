"""Messages to the service manager: the notification protocol of systemd, sd_notify(3)."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final

from idp.config.loading import pop_from_environment
from idp.foundation import logs
from idp.foundation.clock import Timer

_EXTENSION_SECONDS: Final = 60
_EXTENSION_INTERVAL_SECONDS: Final = 5.0

_log: Final = logs.logger(__name__)


class Notifier:
    """Sends the state of the service to the manager at `address`; does nothing without one.

    `watchdog_seconds` is how often the manager expects a watchdog message; None if it does not.
    """

    def __init__(self, address: str | None, watchdog_seconds: float | None, timer: Timer) -> None:
        # An abstract socket's name begins with a zero byte, which the variable writes as "@".
        is_abstract = address is not None and address.startswith("@")
        self._address = f"\0{address[1:]}" if address and is_abstract else address
        self.watchdog_seconds = watchdog_seconds
        self._timer = timer
        self._is_ready = False
        self._is_stopping = False
        self._extended_at = self._timer.monotonic()

    def starting(self) -> None:
        """Reports that the store is still being opened, which takes long where stored records are
        upgraded: the manager then lets the start take a minute more.

        A call soon after another one sends nothing; nor does one after `stopping`.
        """
        now = self._timer.monotonic()
        if not self._is_stopping and now - self._extended_at >= _EXTENSION_INTERVAL_SECONDS:
            self._extended_at = now
            microseconds = _EXTENSION_SECONDS * 1_000_000
            self._send(f"EXTEND_TIMEOUT_USEC={microseconds}", "STATUS=opening the store")

    @asynccontextmanager
    async def extending(self) -> AsyncIterator[None]:
        """Returns a context within which `starting` is called every few seconds, as long as the
        event loop runs."""
        task = asyncio.create_task(self._keep_extending())
        try:
            yield
        finally:
            task.cancel()

    async def _keep_extending(self) -> None:
        while True:
            await self._timer.sleep(_EXTENSION_INTERVAL_SECONDS / 5)
            self.starting()

    def ready(self, status: str) -> None:
        """Reports that the service has started, or has read its settings again; `status` is a text
        for the operator."""
        if not self._is_stopping:
            self._is_ready = True
            self._send("READY=1", f"STATUS={status}")

    def reloading(self) -> None:
        """Reports that the settings are being read again; the caller has to call `ready`
        afterwards."""
        if not self._is_stopping:
            self._send("RELOADING=1", f"MONOTONIC_USEC={int(self._timer.monotonic() * 1_000_000)}")

    def stopping(self) -> None:
        """Reports that a stop has begun, and logs it if `ready` was called. From now on, `ready`
        and `reloading` send nothing."""
        self._is_stopping = True
        if self._is_ready:
            _log.info("stopping")
        self._send("STOPPING=1", "STATUS=stopping")

    def watchdog(self) -> None:
        """Sends one watchdog message. If the manager expects them, this has to be called more
        often than every `watchdog_seconds`."""
        if self.watchdog_seconds is not None:
            self._send("WATCHDOG=1")

    async def send_watchdog(self) -> None:
        """Sends watchdog messages until it is cancelled; returns immediately if none are
        expected.
        """
        if self.watchdog_seconds is not None:
            while True:
                self.watchdog()
                await self._timer.sleep(self.watchdog_seconds / 4)

    def _send(self, *lines: str) -> None:
        if not self._address:
            return
        with (
            suppress(OSError),  # the service continues without the manager
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sock,
        ):
            sock.setblocking(False)
            sock.sendto("\n".join(lines).encode(), self._address)


def from_manager(timer: Timer) -> Notifier:
    """Returns the notifier for the service manager that started this process, as its environment
    variables name it.

    The variables are removed from the environment, so that no child sends messages as well.
    """
    microseconds = pop_from_environment("WATCHDOG_USEC") or ""
    pop_from_environment("WATCHDOG_PID")
    return Notifier(
        pop_from_environment("NOTIFY_SOCKET"),
        int(microseconds) / 1_000_000 if microseconds.isdigit() else None,
        timer,
    )
