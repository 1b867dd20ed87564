"""Answers scrapes of metrics, on an address of its own: `GET /metrics`, and nothing else.

A service of one process answers in a thread, one of several processes in a child that does nothing
else: a scrape works while workers hang.
"""

from __future__ import annotations

import hmac
import select
import shutil
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
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
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

SUPERVISOR: Final = "supervisor"
CHILD: Final = "metrics"
_PATH: Final = "/metrics"
_HEAD_SECONDS: Final = 10.0  # for the head of a request, and for each read or write
_SCRAPE_SECONDS: Final = 30.0  # from the connection to the end of the answer
_EVICTION_SECONDS: Final = 1.0  # until the thread of a closed connection has ended
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
        server = _Server(self._port, self._application(heartbeats))
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

    def _application(self, heartbeats: Heartbeats) -> _Application:
        return _Application(self._token, self._directory, lambda: _show_heartbeats(heartbeats))


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


class _Application:
    """The WSGI application (PEP 3333)."""

    def __init__(self, token: bytes | None, directory: Path, prepare: Callable[[], None]) -> None:
        from prometheus_client import make_wsgi_app

        self._token = token
        self._prepare = prepare
        self._collect = make_wsgi_app(metrics.collected(directory))

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        def respond(status: str, headers: list[tuple[str, str]], *_: Any) -> Any:
            # Otherwise the library names itself and its version.
            return start_response(status, [*headers, ("Server", "idp")])

        if environ["PATH_INFO"] != _PATH:
            return _refuse(respond, "404 Not Found")
        if environ["REQUEST_METHOD"] != "GET":
            return _refuse(respond, "405 Method Not Allowed", ("Allow", "GET"))
        if not self._is_authorized(environ.get("HTTP_AUTHORIZATION", "")):
            return _refuse(respond, "401 Unauthorized", ("WWW-Authenticate", "Bearer"))
        self._prepare()
        metrics.write()
        answer: Iterable[bytes] = self._collect(environ, respond)
        return answer

    def _is_authorized(self, header: str) -> bool:
        if self._token is None:
            return True
        scheme, _, token = header.partition(" ")
        is_same = hmac.compare_digest(token.strip().encode("latin-1", "replace"), self._token)
        return scheme.lower() == "bearer" and is_same


def _refuse(
    respond: Callable[..., Any], status: str, *headers: tuple[str, str]
) -> Iterable[bytes]:
    text = f"{status}\n".encode()
    respond(status, [("Content-Type", "text/plain"), ("Content-Length", str(len(text))), *headers])
    return [text]


class _Handler(WSGIRequestHandler):
    timeout = _HEAD_SECONDS
    server: _Server

    def version_string(self) -> str:
        """Returns the Server header of error responses, which does not name the library."""
        return "idp"

    def parse_request(self) -> bool:
        """Reads the rest of the head. Returns whether it is a request."""
        is_request = super().parse_request()
        self.server.head_arrived(self.connection)
        return is_request

    def log_message(self, *_: Any) -> None:
        """Logs no scrapes."""

    def address_string(self) -> str:
        return str(self.client_address[0])


@dataclass
class _Scrape:
    """A connection: when it began, in monotonic seconds, and whether its request is complete."""

    began_at: float
    has_head: bool = False


def _end(request: socket.socket) -> None:
    """Ends the reads and writes of the thread that answers on this connection."""
    with suppress(OSError):  # the client has ended it already
        request.shutdown(socket.SHUT_RDWR)


class _Server(ThreadingMixIn, WSGIServer):
    """A server with a thread for each scrape, on the socket of a port."""

    daemon_threads = True

    def __init__(self, port: Port, application: _Application) -> None:
        super().__init__((port.host, port.number), _Handler, bind_and_activate=False)
        self.socket.close()
        self.socket = port.worker_socket()
        self.socket.listen(MAX_CONCURRENT_SCRAPES)
        self.server_name, self.server_port = port.host, port.number
        self.setup_environ()
        self.set_app(application)
        self._slots = threading.BoundedSemaphore(MAX_CONCURRENT_SCRAPES)
        self._scrapes: dict[Any, _Scrape] = {}  # in the order of their connections
        self._lock = threading.Lock()

    def process_request(self, request: Any, client_address: Any) -> None:
        if self._slots.acquire(blocking=False) or self._evict_oldest():
            with self._lock:
                self._scrapes[request] = _Scrape(time.monotonic())
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._slots.release()

    def shutdown_request(self, request: Any) -> None:
        """Closes a connection."""
        with self._lock:
            self._scrapes.pop(request, None)
        super().shutdown_request(request)

    def head_arrived(self, request: Any) -> None:
        """Records that a connection's request is complete."""
        with self._lock:
            scrape = self._scrapes.get(request)
            if scrape is not None:
                scrape.has_head = True

    def service_actions(self) -> None:
        """Ends the connections whose time limit has passed; called several times a second."""
        now = time.monotonic()
        with self._lock:
            for request, scrape in self._scrapes.items():
                limit = _SCRAPE_SECONDS if scrape.has_head else _HEAD_SECONDS
                if now - scrape.began_at > limit:
                    _end(request)

    def _evict_oldest(self) -> bool:
        """Ends the connection that has waited longest for its head; returns whether a slot
        is free now. Otherwise a client that sends no request could hold all slots."""
        with self._lock:
            waiting = (request for request, each in self._scrapes.items() if not each.has_head)
            oldest = next(waiting, None)
            if oldest is None:
                return False
            _end(oldest)
        return self._slots.acquire(timeout=_EVICTION_SECONDS)

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
