"""The server: listening sockets and signals around the service.

A single process serves by itself; several are workers of `idp.server.supervisor`. A worker is
forked before anything is opened, so that no thread and no connection is ever shared.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import sys
import time
from collections.abc import Callable, Coroutine
from dataclasses import replace
from tempfile import TemporaryDirectory
from typing import Any, Final

import msgspec

from idp import __version__
from idp.background import schedule as background_schedule
from idp.config.settings import Config
from idp.foundation import logs
from idp.foundation.errors import ConfigError
from idp.server import descriptors
from idp.server.import_process import Importer
from idp.server.port import Port
from idp.server.stop_request import StopRequest
from idp.server.supervisor import Supervisor, WorkerContext
from idp.service import Service
from idp.start import bootstrap, exit_codes
from idp.start.bootstrap import Start
from idp.start.checks import USUAL, Launch

_TLS_1_2_SUITES: Final = "ECDHE+AESGCM:ECDHE+CHACHA20"

Announce = Callable[[Start], None]


def announce_to_people(started_at: float) -> Announce:
    """Returns the function that prints the banner on stderr."""

    def announce(told: Start) -> None:
        seconds = time.monotonic() - started_at
        print(bootstrap.banner(told, seconds, __version__), file=sys.stderr, flush=True)

    return announce


def announce_as_json(told: Start) -> None:
    """Prints one JSON line on stdout."""
    print(msgspec.json.encode(told.as_json()).decode(), flush=True)


def run(config: Config, announce: Announce, launch: Launch = USUAL) -> int:
    """Serves until SIGTERM or SIGINT; returns the exit code. Errors are printed on stderr."""
    return exit_codes.guarded(lambda: _run(config, announce, launch))


def _run(config: Config, announce: Announce, launch: Launch) -> None:
    if not config.is_temporary:
        _run_in(config, announce, launch)
        return
    with _temporary_home(config) as home:
        store = f"sqlite:///{home}/idp.sqlite3"
        _run_in(msgspec.structs.replace(config, data=home, store=store), announce, launch)


def _temporary_home(config: Config) -> TemporaryDirectory[str]:
    """Returns a directory for this run alone, in the data directory where one was configured."""
    if config.data == Config().data:
        return TemporaryDirectory(prefix="idp-test-")
    bootstrap.make_data_dir(config.data_dir)
    return TemporaryDirectory(prefix="idp-test-", dir=config.data_dir)


def _run_in(config: Config, announce: Announce, launch: Launch) -> None:
    port = Port(config.host, config.port, is_shared=config.processes > 1)
    try:
        config = config.bound_to(port.number)
        _tls(config)  # an error is reported once, and before anything is created
        bootstrap.check_files(config)
        logs.configure(config.log_level, config.log_format)
        descriptors.raise_limit()
        if config.processes == 1:
            _run_loop(_serve_alone(config, port, announce, launch))
        else:
            _supervise(config, port, announce, launch)
    finally:
        port.close()


def _supervise(config: Config, port: Port, announce: Announce, launch: Launch) -> None:
    import handlers.app  # noqa: F401 - once, for all workers

    supervisor = Supervisor(
        port=port,
        prepare=lambda: _prepared(config, launch),
        work=lambda context: _run_loop(_serve_as_worker(config, context)),
        count=config.processes,
        timeout_seconds=config.worker_timeout_seconds,
        stop_seconds=config.shutdown_delay_seconds + config.drain_seconds,
    )
    supervisor.run(lambda told: announce(msgspec.json.decode(told, type=Start)))


def _prepared(config: Config, launch: Launch) -> bytes:
    """Sets everything up in a process of its own; returns the announcement for the supervisor."""
    told: list[Start] = []

    async def prepare() -> None:
        service = await bootstrap.open_service(config, launch)
        try:
            told.append(await bootstrap.make_ready(service))
        finally:
            await bootstrap.close_service(service)

    _run_loop(prepare())
    return msgspec.json.encode(told[0])


def _run_loop(work: Coroutine[Any, Any, None]) -> None:
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(work)


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Returns the factory of the fastest installed event loop; None for asyncio's own."""
    try:
        import uvloop
    except ImportError:
        return None  # the extra `fast` is not installed
    factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return factory


async def _serve_alone(config: Config, port: Port, announce: Announce, launch: Launch) -> None:
    service = await bootstrap.open_service(config, launch)
    try:
        told = await bootstrap.make_ready(service)
        await serve(service, port.worker_socket(), lambda: announce(told))
    finally:
        await bootstrap.close_service(service)


async def _serve_as_worker(config: Config, context: WorkerContext) -> None:
    async with context.heartbeats.beating(context.index):
        service = await bootstrap.open_service(config)
        try:
            await serve(service, context.listening, context.ready, parent=context.parent)
        finally:
            await bootstrap.close_service(service)


async def serve(
    service: Service,
    listening: socket.socket,
    ready: Callable[[], None],
    *,
    parent: int | None = None,
) -> None:
    """Answers requests until this process is asked to stop, then completes those in progress.

    `parent` is a descriptor that is closed when the supervisor ends.
    """
    from handlers.app import App
    from idp.server.http_server import BoundedServer

    config, importer = service.config, Importer(service)
    app = App(replace(service, wake_importer=importer.wake))
    stop = StopRequest(parent)
    server = BoundedServer(app, config, _tls(config), stop.now)
    server.listen_on(listening)
    ready()
    async with background_schedule.running(service), importer.running():
        await stop.requested.wait()
        app.is_draining = True
        await stop.delay(config.shutdown_delay_seconds)
        server.stop()
    await app.drained(config.drain_seconds)
    await server.close_all_connections()


def _tls(config: Config) -> ssl.SSLContext | None:
    if config.tls_cert is None:
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(config.tls_cert, config.tls_key)
    except OSError as error:
        raise ConfigError([f"tls_cert and tls_key can't be used: {error}"]) from error
    # Of TLS 1.2, suites with authenticated encryption and forward secrecy only (RFC 9325 4.2);
    # those of TLS 1.3 all have both, and are not chosen here.
    context.set_ciphers(_TLS_1_2_SUITES)
    return context
