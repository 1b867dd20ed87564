"""One process that answers requests: its server, its signals and its background work."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from idp.background import schedule as background_schedule
from idp.foundation import log_repetition, logs
from idp.server import certificate, first_process, process_metrics, store_metrics
from idp.server import reload as settings_reload
from idp.server.certificate import CertificateWatch
from idp.server.import_process import Importer
from idp.server.notify import Notifier
from idp.server.reload import Reloader
from idp.server.stop_request import StopRequest
from idp.service import Service

if TYPE_CHECKING:
    from idp.server.http_server import BoundedServer


async def serve(
    service: Service,
    listening: socket.socket,
    reloader: Reloader,
    ready: Callable[[], None],
    *,
    parent: int | None = None,
    notifier: Notifier | None = None,
) -> None:
    """Answers requests on the socket `listening` until this process is asked to stop, then
    completes those in progress.

    `ready` is called once requests are answered. `parent` is a descriptor that is closed when the
    supervisor ends. Without a supervisor, `notifier` reports start, reload and stop to the service
    manager.
    """
    from handlers.app import App
    from idp.server.http_server import BoundedServer

    config, importer = service.config, Importer(service)
    woken = replace(service, wake_importer=importer.wake)
    app = App(woken)
    stop = StopRequest(parent)
    server = BoundedServer(app, config, certificate.context(config), stop.now)
    live = _LiveSettings([service, woken], server, reloader, notifier)
    server.listen_on(listening)
    ready()
    async with (
        background_schedule.running(service),
        importer.running(),
        _running([*live.jobs(), *_jobs(), *store_metrics.jobs(service)]),
    ):
        await stop.requested.wait()
        app.is_draining = True
        if notifier is not None:
            notifier.stopping()
        await stop.delay(config.shutdown_delay_seconds)
        server.stop()
    await app.drained(config.drain_seconds)
    await server.close_all_connections()


def _jobs() -> Sequence[Coroutine[Any, Any, None]]:
    orphans = [first_process.reap_orphans()] if first_process.is_first() else []
    return [_report_repeated_lines(), *orphans, *process_metrics.jobs()]


async def _report_repeated_lines() -> None:
    while True:
        await asyncio.sleep(log_repetition.WINDOW_SECONDS)
        logs.report_repetitions()


@asynccontextmanager
async def _running(jobs: Sequence[Coroutine[Any, Any, None]]) -> AsyncIterator[None]:
    """Within the block, the coroutines run."""
    tasks = [asyncio.create_task(job) for job in jobs]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class _LiveSettings:
    """What changes while this process serves: settings on SIGHUP, and the certificate."""

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
        self._asked = asyncio.Event()
        config = services[0].config
        self._certificate = (
            CertificateWatch(config.tls_cert, config.tls_key, server.use_certificate)
            if config.tls_cert is not None
            else None
        )
        asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, self._asked.set)

    def jobs(self) -> Sequence[Coroutine[Any, Any, None]]:
        """Returns what has to run meanwhile."""
        jobs = [self._reload_when_asked()]
        if self._certificate is not None:
            jobs.append(self._certificate.run())
        if self._notifier is not None:
            self._notifier.ready("serving")
            jobs.append(self._notifier.send_watchdog())
        return jobs

    async def _reload_when_asked(self) -> None:
        while True:
            await self._asked.wait()
            self._asked.clear()
            if self._notifier is not None:
                self._notifier.reloading()
            await self._reload()
            if self._notifier is not None:
                self._notifier.ready("serving")

    async def _reload(self) -> None:
        # A supervisor has reported already what its workers read again.
        read = settings_reload.read if self._notifier is None else settings_reload.read_and_report
        if await asyncio.to_thread(read, self._reloader) is not None:
            config = self._reloader.applied_to(self._services[0].config)
            for service in self._services:
                service.use(config)
            self._server.limit(config)
        if self._certificate is not None:
            self._certificate.look_now()
