"""Answers scrapes of metrics, on an address of its own: `GET /metrics`, and nothing else.

A service of one process answers in a thread, one of several processes in a child that does nothing
else: a scrape works while workers hang.
"""

from __future__ import annotations

import functools
import hmac
import select
import shutil
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from socketserver import ThreadingMixIn
from tempfile import gettempdir, mkdtemp
from typing import TYPE_CHECKING, Any, Final
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from idp.config.loading import from_environment
from idp.config.settings import Config
from idp.config.urls import address_and_port
from idp.foundation import logs, metrics, private_files
from idp.foundation.errors import ConfigError
from idp.server.heartbeats import SILENT_SECONDS, Heartbeats
from idp.server.port import Port

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

SUPERVISOR: Final = "supervisor"
CHILD: Final = "metrics"
_PATH: Final = "/metrics"
_SILENT_SECONDS: Final = 10.0  # for each read or write
_SLOT_SECONDS: Final = 1.0  # how long a connection waits while as many as allowed are open
MAX_CONCURRENT_SCRAPES: Final = 8
_TICK_SECONDS: Final = 0.1  # how often the thread checks whether it has to end
_MAX_TOKEN_BYTES: Final = 1024

_log: Final = logs.logger(__name__)


class MetricsListener:
    """The listening address for metrics, and the directory in which each process of the service
    stores its counts."""

    def __init__(self, address: str, token_file: str | None, processes: int) -> None:
        """Raises ConfigError if the address is in use, the token's file can't be used, or there
        is no space for the counts of so many processes.
        """
        self._token = _token(token_file)
        host, number = address_and_port(address)
        self._port = Port(host, number, is_shared=False)
        try:
            self._directory = _directory(processes)
        except ConfigError:
            self.close_socket()
            raise

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return self._port.number

    def close(self) -> None:
        """Closes the socket in this process, and removes the directory with the counts."""
        self.close_socket()
        shutil.rmtree(self._directory, ignore_errors=True)

    def close_socket(self) -> None:
        """Closes the socket in this process only: other processes continue to answer, and the
        counts remain."""
        self._port.close()

    def count_as(self, process: str) -> None:
        """Makes this process store its counts in the directory, under the name `process`."""
        metrics.enable(self._directory, process)

    @contextmanager
    def answering(self, heartbeats: Heartbeats) -> Iterator[None]:
        """Returns a context within which a thread answers scrapes; they contain how long ago each
        worker's event loop ran, from `heartbeats`."""
        prepare = functools.partial(_show_heartbeats, heartbeats)
        server = _Server(self._port, _application(self._token, self._directory, prepare))
        thread = threading.Thread(target=server.serve_forever, args=(_TICK_SECONDS,), daemon=True)
        thread.start()
        _log.info("metrics are served", address=self._port.host, port=self._port.number)
        try:
            yield
        finally:
            server.shutdown()
            thread.join()
            server.server_close()

    def answer_as_child(self, parent: int, heartbeats: Heartbeats) -> None:
        """Answers scrapes in a child of the supervisor, until the supervisor kills it or has
        ended, which closes the descriptor `parent`."""
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # sent to every process of the service
        self.count_as(CHILD)
        with self.answering(heartbeats):
            select.select([parent], [], [])
        self.close()


@contextmanager
def opened(config: Config) -> Iterator[MetricsListener | None]:
    """Returns a context whose value is a listener for metrics, closed at its end, or None if the
    settings name no address for one. Raises ConfigError if the address, the token's file or the
    directory can't be used."""
    address = config.metrics_listen
    if not address:
        yield None
        return
    listener = MetricsListener(address, config.metrics_token_file, config.processes)
    try:
        yield listener
    finally:
        listener.close()
        metrics.disable()


def _show_heartbeats(heartbeats: Heartbeats) -> None:
    for index, age in enumerate(heartbeats.ages()):
        if age is not None:
            metrics.WORKER_HEARTBEAT_AGE.set(age, str(index))
            metrics.WORKER_UP.set(age < SILENT_SECONDS, str(index))


def _application(
    token: bytes | None, directory: Path, prepare: Callable[[], None]
) -> WSGIApplication:
    """Returns what answers a scrape that has the token; `prepare` is called before each."""
    from prometheus_client import make_wsgi_app

    collect = make_wsgi_app(metrics.collected(directory))

    def application(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        def respond(status: str, headers: list[tuple[str, str]], *_: Any) -> Any:
            # Otherwise the library names itself and its version.
            return start_response(status, [*headers, ("Server", "idp")])

        if environ["PATH_INFO"] != _PATH:
            return _refuse(respond, "404 Not Found")
        if not _is_authorized(token, environ.get("HTTP_AUTHORIZATION", "")):
            return _refuse(respond, "401 Unauthorized", ("WWW-Authenticate", "Bearer"))
        prepare()
        answer: Iterable[bytes] = collect(environ, respond)
        return answer

    return application


def _is_authorized(token: bytes | None, header: str) -> bool:
    scheme, _, given = header.partition(" ")
    is_same = hmac.compare_digest(given.strip().encode("latin-1", "replace"), token or b"")
    return token is None or (scheme.lower() == "bearer" and is_same)


def _refuse(
    respond: Callable[..., Any], status: str, *headers: tuple[str, str]
) -> Iterable[bytes]:
    respond(status, [("Content-Type", "text/plain"), *headers])
    return [f"{status}\n".encode()]


class _Handler(WSGIRequestHandler):
    timeout = _SILENT_SECONDS

    def version_string(self) -> str:
        """Returns the Server header of error responses, which does not name the library."""
        return "idp"

    def log_message(self, *_: Any) -> None:
        """Logs no scrapes."""


class _Server(ThreadingMixIn, WSGIServer):
    """A server with a thread for each scrape, on the socket of a port."""

    daemon_threads = True

    def __init__(self, port: Port, application: WSGIApplication) -> None:
        super().__init__((port.host, port.number), _Handler, bind_and_activate=False)
        self.socket.close()
        self.socket = port.worker_socket()
        self.server_name, self.server_port = port.host, port.number
        self.server_activate()
        self.setup_environ()
        self.set_app(application)
        self._slots = threading.BoundedSemaphore(MAX_CONCURRENT_SCRAPES)

    def process_request(self, request: Any, client_address: Any) -> None:
        if not self._slots.acquire(timeout=_SLOT_SECONDS):
            self.shutdown_request(request)
            return
        try:
            super().process_request(request, client_address)
        except RuntimeError:  # the system has no room for another thread
            self._slots.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._slots.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        _log.debug("a scrape was aborted", address=client_address[0])


def _directory(processes: int) -> Path:
    """Returns a new directory in which these processes can count. Raises ConfigError."""
    parent = (from_environment("RUNTIME_DIRECTORY") or gettempdir()).partition(":")[0]
    try:
        directory = Path(mkdtemp(prefix="idp-metrics-", dir=parent))
    except OSError as error:
        raise _no_space(parent, error) from error
    try:
        for index in range(processes):
            metrics.reserve(directory, str(index), is_worker=True)
        for process in (SUPERVISOR, CHILD):
            metrics.reserve(directory, process, is_worker=False)
    except OSError as error:
        shutil.rmtree(directory, ignore_errors=True)
        raise _no_space(parent, error) from error
    return directory


def _no_space(parent: str, error: OSError) -> ConfigError:
    return ConfigError([f"metrics can't be counted in {parent}: {error.strerror}"])


def _token(file: str | None) -> bytes | None:
    """Returns the content of the token's file. Raises ConfigError."""
    if file is None:
        return None
    token = private_files.read(Path(file), "metrics_token_file", _MAX_TOKEN_BYTES).strip()
    if not token or not token.isascii() or any(byte in token for byte in b" \r\n\t"):
        raise ConfigError([f"metrics_token_file {file} must hold one word of ASCII characters"])
    return token
