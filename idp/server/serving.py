"""One process that answers requests: its server, its signals and its background work."""

from __future__ import annotations

import asyncio
import gc
import signal
import socket
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from idp.background import schedule as background_schedule
from idp.foundation import log_repetition, logs
from idp.server import certificate, first_process, process_metrics, signals, store_metrics
from idp.server import reload as settings_reload
from idp.server.certificate import CertificateWatch
from idp.server.import_process import Importer
from idp.server.notify import Notifier
from idp.server.reload import Reloader
from idp.server.stop_request import StopRequest
from idp.service import Service

if TYPE_CHECKING:
    from idp.server.http_server import BoundedServer

_log: Final = logs.logger(__name__)


async def serve(
    service: Service,
    listening_socket: socket.socket,
    reloader: Reloader,
    ready: Callable[[], None],
    *,
    parent: int | None = None,
    notifier: Notifier | None = None,
) -> None:
    """Answers requests on the socket `listening_socket` until this process is asked to stop, then
    completes those in progress.

    `ready` is called once requests are answered. `parent` is a descriptor that is closed when the
    supervisor ends. Without a supervisor, `notifier` reports start, reload and stop to the service
    manager.
    """
    from handlers.app import App
    from idp.server.http_server import BoundedServer

    config, importer = service.config, Importer(service)
    waking_service = replace(service, wake_importer=importer.wake)
    app = App(waking_service)
    stop = StopRequest(parent)
    server = BoundedServer(app, config, certificate.context(config), stop.stop_now)
    live_settings = _LiveSettings([service, waking_service], server, reloader, notifier)
    _freeze_for_collector()
    with signals.handled(signal.SIGHUP, live_settings.reload_soon):
        server.listen_on(listening_socket)
        ready()
        if notifier is not None:
            notifier.ready("serving")
        async with (
            background_schedule.running(service),
            importer.running(),
            _running(
                [*live_settings.coroutines(), *_coroutines(), *store_metrics.coroutines(service)]
            ),
        ):
            await stop.requested.wait()
            app.is_draining = True
            if notifier is not None:
                notifier.stopping()
            await stop.delay(config.shutdown_delay_seconds)
            server.stop()
            await server.first_requests()
        await app.drained(config.drain_seconds)
        await server.close_all_connections()


def _freeze_for_collector() -> None:
    """Excludes the objects that exist now from garbage collection, since they exist as long as
    the process: to examine them takes tens of milliseconds, in which no request is answered."""
    gc.collect()
    gc.freeze()


def _coroutines() -> Sequence[Coroutine[Any, Any, None]]:
    orphans = [first_process.reap_orphans()] if first_process.is_first() else []
    return [_report_repeated_lines(), *orphans, *process_metrics.coroutines()]


async def _report_repeated_lines() -> None:
    while True:
        await asyncio.sleep(log_repetition.WINDOW_SECONDS)
        logs.report_repetitions()


@asynccontextmanager
async def _running(coroutines: Sequence[Coroutine[Any, Any, None]]) -> AsyncIterator[None]:
    """Within the block, the coroutines run. If one fails, that is logged, and the others
    continue."""
    tasks = [asyncio.create_task(_logged(coroutine)) for coroutine in coroutines]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _logged(coroutine: Coroutine[Any, Any, None]) -> None:
    try:
        await coroutine
    except Exception as error:  # it is not awaited before the process ends
        _log.error(
            "a task of this process has failed",
            task=getattr(coroutine, "__qualname__", ""),
            exc_info=error,
        )


class _LiveSettings:
    """The settings that `reload_soon` changes while this process serves, and the certificate."""

    def __init__(
        self,
        services: Sequence[Service],
        server: BoundedServer,
        reloader: Reloader,
        notifier: Notifier | None,
    ) -> None:
        self._services = services
        self._server = server
        self._reloader = reloader
        self._notifier = notifier
        self._reload_requested = asyncio.Event()
        config = services[0].config
        self._certificate = (
            CertificateWatch(config.tls_cert, config.tls_key, server.use_certificate)
            if config.tls_cert is not None
            else None
        )

    def reload_soon(self) -> None:
        """Has the settings and the certificate read again."""
        self._reload_requested.set()

    def coroutines(self) -> Sequence[Coroutine[Any, Any, None]]:
        """Returns the coroutines that have to run while this process serves."""
        coroutines = [self._reload_on_request()]
        if self._certificate is not None:
            coroutines.append(self._certificate.run())
        if self._notifier is not None:
            coroutines.append(self._notifier.send_watchdog())
        return coroutines

    async def _reload_on_request(self) -> None:
        while True:
            await self._reload_requested.wait()
            self._reload_requested.clear()
            if self._notifier is not None:
                self._notifier.reloading()
            await self._reload()
            if self._notifier is not None:
                self._notifier.ready("serving")

    async def _reload(self) -> None:
        # A supervisor has already reported the changes that its workers read again.
        read = settings_reload.read if self._notifier is None else settings_reload.read_and_report
        if await asyncio.to_thread(read, self._reloader) is not None:
            config = self._reloader.applied_to(self._services[0].config)
            for service in self._services:
                service.use(config)
            self._server.apply_limits(config)
        if self._certificate is not None:
            self._certificate.check_now()
