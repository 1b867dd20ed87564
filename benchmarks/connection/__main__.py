"""`python -m benchmarks.connection`: the processor time of one handler on two connections."""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import signal
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from statistics import median
from typing import Final

from tornado.httpserver import HTTPServer
from tornado.web import Application, RequestHandler, stream_request_body

from benchmarks.tables import aligned
from idp.config.settings import Config
from idp.server.http_server import BoundedServer
from idp.server.listener import loop_factory

CLIENTS: Final = 8  # connections, each with one request under way
WARM_UP: Final = 200
LENGTH: Final = 200  # of the answer's body
_FIELDS: Final = (
    "Host: localhost:8080",
    "User-Agent: benchmark/1.0",
    "Accept: */*",
    "Accept-Encoding: gzip, deflate",
    "Connection: keep-alive",
    f"Authorization: Bearer {'t' * 40}",
)
_FORM: Final = ("Content-Type: application/x-www-form-urlencoded", "Content-Length: 40")


def _request(method: str, *more: str, body: str = "") -> bytes:
    return "\r\n".join([f"{method} /x?a=b HTTP/1.1", *_FIELDS, *more, "", body]).encode()


REQUESTS: Final = {"GET": _request("GET"), "POST": _request("POST", *_FORM, body="a" * 40)}


@stream_request_body
class Handler(RequestHandler):
    """Answers every request immediately."""

    def data_received(self, chunk: bytes) -> None:
        pass

    def get(self) -> None:
        self.finish(b"x" * LENGTH)

    post = get


def _with_tornado(app: Application, listening: socket.socket) -> None:
    HTTPServer(app).add_socket(listening)


def _with_our_own(app: Application, listening: socket.socket) -> None:
    BoundedServer(app, Config(), None, lambda: None).listen_on(listening)


async def _serve(begin: Callable[[Application, socket.socket], None], pipe: int) -> None:
    """Serves on a free port until SIGTERM. Writes the port to the pipe and, for each SIGUSR1, the
    processor time so far, in seconds."""
    listening = socket.create_server(("127.0.0.1", 0))
    listening.setblocking(False)
    begin(Application([("/x", Handler)], log_function=lambda _: None), listening)
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, ended.set)
    loop.add_signal_handler(signal.SIGUSR1, lambda: os.write(pipe, b"%f\n" % _spent()))
    os.write(pipe, b"%d\n" % listening.getsockname()[1])
    await ended.wait()


def _spent() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def microseconds(
    begin: Callable[[Application, socket.socket], None], request: bytes, count: int
) -> float:
    """Returns the processor time of a request in the server, which is a separate process."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        with suppress(BaseException), asyncio.Runner(loop_factory=loop_factory()) as runner:
            runner.run(_serve(begin, writing))
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        port = int(pipe.readline())
        clients = [socket.create_connection(("127.0.0.1", port)) for _ in range(CLIENTS)]
        _ask(clients, request, WARM_UP)
        before = _processor_seconds(child, pipe.readline)
        _ask(clients, request, count)
        spent = _processor_seconds(child, pipe.readline) - before
        for client in clients:
            client.close()
    os.kill(child, signal.SIGTERM)
    os.waitpid(child, 0)
    return spent / count * 1e6


def _processor_seconds(child: int, read: Callable[[], bytes]) -> float:
    os.kill(child, signal.SIGUSR1)
    return float(read())


def _ask(clients: list[socket.socket], request: bytes, count: int) -> None:
    for _ in range(count // len(clients)):
        for client in clients:
            client.sendall(request)
        for client in clients:
            answer = b""
            while len(answer.partition(b"\r\n\r\n")[2]) < LENGTH:
                answer += client.recv(65536)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measures both in turns, and prints a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.connection", description=__doc__)
    parser.add_argument("--count", type=int, default=4000, help="requests of a turn")
    parser.add_argument("--rounds", type=int, default=5, help="turns of both")
    options = parser.parse_args(arguments)
    rows = [["request", "Tornado's, µs", "ours, µs", "ratio"]]
    for name, request in REQUESTS.items():
        turns = [
            (
                microseconds(_with_tornado, request, options.count),
                microseconds(_with_our_own, request, options.count),
            )
            for _ in range(options.rounds)
        ]
        theirs, ours = (median(column) for column in zip(*turns, strict=True))
        ratio = median(our / their for their, our in turns)
        rows.append([name, f"{theirs:.0f}", f"{ours:.0f}", f"{ratio:.2f}"])
    print(aligned(rows))


if __name__ == "__main__":
    main()
