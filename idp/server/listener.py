"""The server: listening sockets and signals around the service.

A single process serves by itself; several are workers of `idp.server.supervisor`. A worker is
forked before anything is opened, so that no thread and no connection is ever shared.
"""

from __future__ import annotations

import asyncio
import os
import signal
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
from idp.foundation.errors import ConfigError
from idp.server.import_process import Importer
from idp.server.supervisor import Life, Supervisor
from idp.service import Service
from idp.start import bootstrap, exit_codes
from idp.start.bootstrap import Start
from idp.start.checks import USUAL, Launch

BACKLOG: Final = 1024
MAX_HEADER_BYTES: Final = 256 * 1024  # a longer one closes the connection without a response
MAX_BODY_BYTES: Final = 8 * 1024 * 1024
IDLE_SECONDS: Final = 75
_TLS_1_2_SUITES: Final = "ECDHE+AESGCM:ECDHE+CHACHA20"

Announce = Callable[[Start], None]


def bind(config: Config) -> tuple[Config, list[socket.socket]]:
    """Returns a listening socket for each process, all on one port, and the settings with that
    port.

    Raises ConfigError if the address is taken or not this machine's.
    """
    sockets: list[socket.socket] = []
    port, is_shared = config.port, config.processes > 1
    if is_shared:  # SO_REUSEPORT would share the port with another service of this user, too
        _listen(config.host, port, shared=False).close()
    for _ in range(config.processes):
        one = _listen(config.host, port, shared=is_shared)
        sockets.append(one)
        port = one.getsockname()[1]
    return config.bound_to(port), sockets


def _listen(host: str, port: int, *, shared: bool) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if shared:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        listening.bind((host, port))
        listening.listen(BACKLOG)
    except OSError as error:
        listening.close()
        raise ConfigError([f"{host}:{port} can't be listened on: {error.strerror}"]) from error
    listening.setblocking(False)
    return listening


def _close(sockets: list[socket.socket]) -> None:
    for one in sockets:
        one.close()


def announce_to_people(started_at: float) -> Announce:
    """Returns the function that prints the banner on stderr."""

    def announce(start: Start) -> None:
        seconds = time.monotonic() - started_at
        print(bootstrap.banner(start, seconds, __version__), file=sys.stderr, flush=True)

    return announce


def announce_as_json(start: Start) -> None:
    """Prints one JSON line on stdout."""
    print(msgspec.json.encode(start.as_json()).decode(), flush=True)


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
    config, sockets = bind(config)
    try:
        _tls(config)  # an error is reported once, and before anything is created
        bootstrap.check_files(config)
        if config.processes == 1:
            _run_loop(_serve_alone(config, sockets[0], announce, launch))
        else:
            _supervise(config, sockets, announce, launch)
    finally:
        _close(sockets)


def _supervise(
    config: Config, sockets: list[socket.socket], announce: Announce, launch: Launch
) -> None:
    supervisor = Supervisor(
        prepare=lambda: _prepared(config, launch),
        work=lambda index, life: _run_loop(_serve_as_worker(config, sockets, index, life)),
        count=len(sockets),
        close_sockets=lambda: _close(sockets),
    )
    supervisor.run(lambda data: announce(msgspec.json.decode(data, type=Start)))


def _prepared(config: Config, launch: Launch) -> bytes:
    """Sets everything up in a process of its own; returns the announcement for the supervisor."""
    starts: list[Start] = []

    async def prepare() -> None:
        service = await bootstrap.open_service(config, launch)
        try:
            starts.append(await bootstrap.make_ready(service))
        finally:
            await bootstrap.close_service(service)

    _run_loop(prepare())
    return msgspec.json.encode(starts[0])


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


async def _serve_alone(
    config: Config, listening: socket.socket, announce: Announce, launch: Launch
) -> None:
    service = await bootstrap.open_service(config, launch)
    try:
        start = await bootstrap.make_ready(service)
        await serve(service, listening, lambda: announce(start))
    finally:
        await bootstrap.close_service(service)


async def _serve_as_worker(
    config: Config, sockets: list[socket.socket], index: int, life: Life
) -> None:
    listening = sockets.pop(index)
    _close(sockets)  # connections of the other sockets would else be queued for this process, too
    service = await bootstrap.open_service(config)
    try:
        await serve(service, listening, life.ready, parent=life.parent)
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
    from tornado.httpserver import HTTPServer

    from handlers.app import App

    importer = Importer(service)
    app = App(replace(service, wake_importer=importer.wake))
    server = HTTPServer(
        app,
        ssl_options=_tls(service.config),
        max_header_size=MAX_HEADER_BYTES,
        max_body_size=MAX_BODY_BYTES,
        idle_connection_timeout=IDLE_SECONDS,
    )
    stopping = _stop_on_signals(parent)
    server.add_socket(listening)
    ready()
    async with background_schedule.running(service), importer.running():
        await stopping.wait()
        app.is_draining = True
        server.stop()
    await app.drained(service.config.drain_seconds)
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


def _stop_on_signals(parent: int | None) -> asyncio.Event:
    """Returns an event that the first SIGTERM or SIGINT sets; the second ends the process at once.

    A worker leaves that to its supervisor: an operator who stops a service may signal all its
    processes, so that a worker receives two signals for one stop.
    """
    stopping, loop = asyncio.Event(), asyncio.get_running_loop()

    def stop() -> None:
        if stopping.is_set() and parent is None:
            os._exit(exit_codes.FAILED)
        stopping.set()

    def orphaned() -> None:
        loop.remove_reader(parent or 0)
        stopping.set()

    for number in (signal.SIGTERM, signal.SIGINT) if parent is None else (signal.SIGTERM,):
        loop.add_signal_handler(number, stop)
    if parent is not None:
        loop.add_reader(parent, orphaned)
    return stopping
