"""The server: the port, and the processes that serve on it.

A single process serves without a supervisor; several are workers of `idp.server.supervisor`. A
worker is forked before anything is opened, so that no thread and no connection is ever shared.
"""

from __future__ import annotations

import asyncio
import signal
import sys
import time
from collections.abc import Callable, Coroutine
from tempfile import TemporaryDirectory
from typing import Any, Final

import msgspec
from msgspec import Struct

import storage
from idp import __version__
from idp.config.settings import Config
from idp.foundation import logs, metrics, standard_streams
from idp.foundation.clock import SystemTimer
from idp.server import certificate, descriptors, metrics_listener, notify
from idp.server.heartbeats import Heartbeats
from idp.server.metrics_listener import MetricsListener
from idp.server.notify import Notifier
from idp.server.port import Port, socket_from_manager
from idp.server.reload import Reloader
from idp.server.serving import serve
from idp.server.supervisor import Supervisor
from idp.server.worker_processes import (
    ProcessFunctions,
    TimeLimits,
    WorkerContext,
    is_stopped,
)
from idp.start import announcement, bootstrap, checks, exit_codes, traces
from idp.start.announcement import Start
from idp.start.checks import DEFAULT_LAUNCH, Launch

Announce = Callable[[Start], None]

_log: Final = logs.logger(__name__)


class _Lifetime:
    """Logs that the service has started, and at the end that it has stopped."""

    def __init__(self, config: Config, announce: Announce) -> None:
        self._config = config
        self._announce = announce
        self._has_started = False

    def log_start(self, start: Start) -> None:
        """Announces the start, and logs it."""
        self._announce(start)
        self._has_started = True
        _log.info(
            "started",
            version=__version__,
            issuer=self._config.issuer,
            store=self._config.store.partition(":")[0],
            processes=self._config.processes,
        )

    def log_end(self) -> None:
        """Logs the end of a service that has started."""
        if self._has_started:
            _log.info("stopped")


class _Run(Struct, frozen=True):
    """The values that the processes of a run share."""

    config: Config
    port: Port
    reloader: Reloader
    notifier: Notifier
    announce: Announce
    launch: Launch
    metrics: MetricsListener | None


def announce_as_text(started_at: float) -> Announce:
    """Returns a function that prints the banner of a started service on stderr, with the seconds
    since `started_at`, in seconds of `time.monotonic`.

    Where the log is JSON, it is a line of the log instead, which has no password.
    """

    def announce(start: Start) -> None:
        seconds = time.monotonic() - started_at
        if logs.is_json():
            _log_ready(start, seconds)
            return
        print(announcement.banner(start, seconds, __version__), file=sys.stderr, flush=True)

    return announce


def _log_ready(start: Start, seconds: float) -> None:
    _log.info("ready", seconds=round(seconds, 1), admin=start.admin.login_name)
    if start.admin.password:
        _log.warning(
            "the first administrator has no password yet: print one with the command",
            command=f"idp admin reset-password {start.admin.login_name}",
        )


def announce_as_json(start: Start) -> None:
    """Prints the description of a started service on stdout, as one line of JSON."""
    print(msgspec.json.encode(start.as_json()).decode(), flush=True)


def run(
    config: Config,
    announce: Announce,
    launch: Launch = DEFAULT_LAUNCH,
    load: Callable[[], Config] | None = None,
) -> int:
    """Runs the service until SIGTERM or SIGINT; returns the exit code. Errors are printed on
    stderr.

    `announce` is called once when the service has started. `load` reads the settings again, on
    SIGHUP, for the log level, and raises ConfigError; without it, they stay the same.
    """
    reloader = Reloader(config, load or (lambda: config))
    return exit_codes.guarded(lambda: _run(config, announce, launch, reloader))


def _run(config: Config, announce: Announce, launch: Launch, reloader: Reloader) -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # until it can be handled
    notifier = notify.from_manager(SystemTimer())
    if not config.is_temporary:
        _run_in(config, announce, launch, reloader, notifier)
        return
    with _temporary_home(config) as home:
        store = f"sqlite:///{home}/idp.sqlite3"
        temporary = msgspec.structs.replace(config, data=home, store=store)
        _run_in(temporary, announce, launch, reloader, notifier)


def _temporary_home(config: Config) -> TemporaryDirectory[str]:
    """Returns a directory for this run alone, in the data directory where one was configured."""
    if config.data == Config().data:
        return TemporaryDirectory(prefix="idp-test-")
    bootstrap.make_data_dir(config.data_dir)
    return TemporaryDirectory(prefix="idp-test-", dir=config.data_dir)


def _run_in(
    config: Config, announce: Announce, launch: Launch, reloader: Reloader, notifier: Notifier
) -> None:
    passed = socket_from_manager()
    port = Port(config.host, config.port, is_shared=config.processes > 1, passed=passed)
    config = config.bound_to(port.number)
    lifetime = _Lifetime(config, announce)
    try:
        certificate.context(config)  # an error is reported once, and before anything is created
        checks.check_files(config)
        logs.configure(config.log_level, config.log_format)
        standard_streams.limit_waits()
        descriptors.raise_limit()
        with metrics_listener.opened(config) as listener:
            run_context = _Run(
                config, port, reloader, notifier, lifetime.log_start, launch, listener
            )
            if config.processes == 1:
                _run_loop(_serve_alone(run_context))
            else:
                _supervise(run_context)
    finally:
        port.close()
        lifetime.log_end()


def _supervise(run_context: _Run) -> None:
    import handlers.app  # noqa: F401 - once, for all workers

    config = run_context.config
    traces.load(config)
    functions = ProcessFunctions(
        prepare=lambda heartbeats: _prepare_service(run_context, heartbeats),
        work=lambda context: _run_loop(_serve_as_worker(run_context, context)),
        reload=run_context.reloader.read_and_report,
        # A worker that waits for a slow disk is not stopped: it continues on its own.
        blocks_others=lambda pid: is_stopped(pid) and storage.blocks_writers(config.store, pid),
        answer_scrapes=None
        if run_context.metrics is None
        else run_context.metrics.answer_as_child,
    )
    if run_context.metrics is not None:
        run_context.metrics.count_as(metrics_listener.SUPERVISOR)
    limits = TimeLimits(
        hang_seconds=config.worker_timeout_seconds,
        stop_seconds=config.shutdown_delay_seconds + config.drain_seconds,
    )
    supervisor = Supervisor(
        run_context.port, functions, config.processes, limits, run_context.notifier, SystemTimer()
    )
    supervisor.run(lambda start: run_context.announce(msgspec.json.decode(start, type=Start)))


def _prepare_service(run_context: _Run, heartbeats: Heartbeats) -> bytes:
    """Sets everything up in a process of its own; returns the announcement for the supervisor."""
    metrics.disable()  # this process has no name of its own to count under
    starts: list[Start] = []

    async def prepare() -> None:
        async with heartbeats.beating(0):
            service = await bootstrap.open_service(run_context.config, run_context.launch)
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


async def _serve_alone(run_context: _Run) -> None:
    if run_context.metrics is None:
        await _open_and_serve(run_context)
        return
    heartbeats = Heartbeats(1, SystemTimer())
    run_context.metrics.count_as("0")
    async with heartbeats.beating(0):
        with run_context.metrics.answering(heartbeats):
            await _open_and_serve(run_context)


async def _open_and_serve(run_context: _Run) -> None:
    async with traces.running(run_context.config):
        async with run_context.notifier.extending():
            service = await bootstrap.open_service(run_context.config, run_context.launch)
        try:
            start = await bootstrap.make_ready(service)
            await serve(
                service,
                run_context.port.worker_socket(),
                run_context.reloader,
                lambda: run_context.announce(start),
                notifier=run_context.notifier,
            )
        finally:
            await bootstrap.close_service(service)


async def _serve_as_worker(run_context: _Run, context: WorkerContext) -> None:
    logs.name_worker(context.index)
    if run_context.metrics is not None:
        run_context.metrics.close_socket()
        run_context.metrics.count_as(str(context.index))
    beating = context.heartbeats.beating(context.index)
    async with beating, traces.running(run_context.config):
        level = run_context.reloader.log_level  # that of the last SIGHUP
        config = msgspec.structs.replace(run_context.config, log_level=level)
        service = await bootstrap.open_service(config)
        try:
            await serve(
                service,
                context.listening_socket,
                run_context.reloader,
                context.ready,
                parent=context.parent,
            )
        finally:
            await bootstrap.close_service(service)
