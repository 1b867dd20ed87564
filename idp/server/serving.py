"""One process that answers requests: its server, its signals and its background work."""

from __future__ import annotations

import asyncio
import gc
import signal
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, Final

from idp.background import schedule as background_schedule
from idp.config.settings import Config
from idp.foundation import log_repetition, logs
from idp.server import certificate, first_process, process_metrics, signals, store_metrics
from idp.server.certificate import CertificateWatch
from idp.server.import_process import Importer
from idp.server.notify import Notifier
from idp.server.reload import Reloader
from idp.server.stop_request import StopRequest
from idp.service import Service

_NEW_OBJECTS: Final = 20_000  # before the garbage collector examines them

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
    app, stop = App(replace(service, wake_importer=importer.wake)), StopRequest(parent)
    server = BoundedServer(app, config, certificate.context(config), stop.stop_now)
    watch = _certificate_watch(config, server.use_certificate)
    reload_requested = asyncio.Event()
    _prepare_collector()
    with signals.handled(signal.SIGHUP, reload_requested.set):
        server.listen_on(listening_socket)
        ready()
        if notifier is not None:
            notifier.ready("serving")
        async with (
            background_schedule.running(service),
            importer.running(),
            _running(
                [
                    _reload_on_request(reload_requested, reloader, watch, notifier),
                    *_coroutines(watch, notifier, app.admission.measure),
                    *store_metrics.coroutines(service),
                ]
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


def _prepare_collector() -> None:
    """Excludes the objects that exist now from garbage collection, since they exist as long as
    the process: to examine them takes tens of milliseconds, in which no request is answered.

    Requests make few cycles, so new objects are examined once for dozens of requests and not for
    each: that takes 5 % less processor time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_NEW_OBJECTS)


def _coroutines(
    watch: CertificateWatch | None, notifier: Notifier | None, measure: Callable[[], None]
) -> Sequence[Coroutine[Any, Any, None]]:
    certificates = [watch.run()] if watch else []
    watchdog = [notifier.send_watchdog()] if notifier else []
    orphans = [first_process.reap_orphans()] if first_process.is_first() else []
    measurements = process_metrics.coroutines(measure)
    return [_report_repeated_lines(), *certificates, *watchdog, *orphans, *measurements]


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


def _certificate_watch(
    config: Config, use: Callable[[ssl.SSLContext], None]
) -> CertificateWatch | None:
    if config.tls_cert is None:
        return None
    return CertificateWatch(config.tls_cert, config.tls_key, use)


async def _reload_on_request(
    requested: asyncio.Event,
    reloader: Reloader,
    watch: CertificateWatch | None,
    notifier: Notifier | None,
) -> None:
    """Has the settings and the certificate read again whenever that is requested."""
    # A supervisor has already reported the changes that its workers read again.
    read = reloader.read if notifier is None else reloader.read_and_report
    while True:
        await requested.wait()
        requested.clear()
        if notifier is not None:
            notifier.reloading()
        await asyncio.to_thread(read)
        if watch is not None:
            watch.check_now()
        if notifier is not None:
            notifier.ready("serving")
