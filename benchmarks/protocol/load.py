"""The load: a process that sends requests over kept connections, and times the answers.

`python -m benchmarks.protocol.load` reads an `Order` from each line of its input, and answers each
with a line that is a `Sample`. Plain sockets and epoll instead of an HTTP client: the load shares
two cores with what it measures, so that its own work has to be small.
"""

from __future__ import annotations

import itertools
import re
import select
import socket
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec
from msgspec import Struct

ADDRESS: Final = "address"  # the held value with the path of a browser's page
PATIENCE_SECONDS: Final = 20
_MAX_REDIRECTS: Final = 10
_RECEIVED_AT_ONCE: Final = 64 * 1024
_LENGTH: Final = re.compile(rb"(?i)\r\ncontent-length: *([0-9]+)")
_COOKIE: Final = re.compile(r"(?i)\r\nset-cookie: *([^=;\s]+)=([^;\s]*)")
_LOCATION: Final = re.compile(r"(?i)\r\nlocation: *(?:https?://[^/\s]+)?(/\S*)")
_HELD: Final = re.compile("@@([a-z_]+)@@")
_REQUEST_LINE: Final = re.compile(r"[A-Z]+ \S+")


def held(name: str) -> str:
    """Returns what stands in a request for the held value of this name."""
    return f"@@{name}@@"


class Step(Struct, frozen=True, omit_defaults=True):
    """One request: its head without Content-Length, and its form.

    `held(NAME)` in either is replaced by the value that the flow holds under this name; `takes`
    has the patterns that find in the answer the values that it holds from then on.

    `is_browser`: the request has the cookies that the browser was given, and redirects are
    followed until an answer has the status and the values that are expected.
    """

    head: str
    form: str = ""
    status: int = 200
    takes: dict[str, str] = {}
    is_browser: bool = False


class Flow(Struct, frozen=True, omit_defaults=True):
    """A sequence of requests, which together count as one operation. Each operation begins with a
    browser without cookies."""

    steps: list[Step]
    held: dict[str, str] = {}


class Plan(Struct, frozen=True):
    """The server and the flows; each connection repeats its flows."""

    port: int
    flows: list[Flow]
    connections: int = 16


class Order(Struct, frozen=True, omit_defaults=True):
    """An order to follow the plan of this name for some seconds; the first order contains the plan
    itself."""

    name: str
    seconds: float
    plan: Plan | None = None


class Sample(Struct, frozen=True):
    """The result of an order. `cpu_seconds` is the load's own."""

    operations: int
    seconds: float
    cpu_seconds: float
    latencies: list[float]


class Unexpected(Exception):
    """The answer differs from the one that the plan expects."""


class _Request:
    """A step that is ready to be sent."""

    def __init__(self, step: Step) -> None:
        self.is_browser = step.is_browser
        self._step = step
        is_fixed = not step.is_browser and not _HELD.search(step.head + step.form)
        self._always = _encoded(step.head, step.form) if is_fixed else None
        self._status = str(step.status).encode()
        self._takes = {name: re.compile(each.encode()) for name, each in step.takes.items()}

    def data(self, run: _FlowRun) -> bytes:
        if self._always:
            return self._always
        head, form = (run.filled_in(part) for part in (self._step.head, self._step.form))
        return _encoded(head + run.cookie_field() if self.is_browser else head, form)

    def redirected(self, path: str, run: _FlowRun) -> bytes:
        """Returns the request with which the browser follows a redirect of this step."""
        head = _REQUEST_LINE.sub(lambda _: f"GET {path}", self._step.head, count=1)
        return _encoded(head.partition("Content-Type:")[0] + run.cookie_field(), "")

    def taken_from(self, answer: bytes) -> dict[str, str] | None:
        """Returns the values that the step takes from the answer; None if it is not the expected
        answer."""
        if answer[9:12] != self._status:
            return None
        found = {name: pattern.search(answer) for name, pattern in self._takes.items()}
        taken = {name: match[1].decode() for name, match in found.items() if match}
        return taken if len(taken) == len(found) else None

    def __str__(self) -> str:
        return f"{self._step.head}{self._step.form}, {self._step.takes}"


def _encoded(head: str, form: str) -> bytes:
    if form:
        head += f"Content-Length: {len(form)}\r\n"
    return f"{head}\r\n{form}".encode()


class _FlowRun:
    """A flow with the values that it holds now, and its browser's cookies."""

    def __init__(self, flow: Flow) -> None:
        self.requests = [_Request(step) for step in flow.steps]
        self.held = dict(flow.held)
        self.cookies: dict[str, str] = {}

    def filled_in(self, text: str) -> str:
        return _HELD.sub(lambda match: self.held[match[1]], text)

    def cookie_field(self) -> str:
        cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items() if value)
        return f"Cookie: {cookies}\r\n" if cookies else ""


class Connection:
    """A persistent connection that follows its flows, one request at a time."""

    def __init__(self, port: int, runs: Iterator[_FlowRun]) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), PATIENCE_SECONDS)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.began = 0.0
        self._runs = runs
        self._received = b""

    def begin(self) -> None:
        """Sends the first request of the next run of a flow."""
        self._run = next(self._runs)
        self._run.cookies.clear()
        self._left = iter(self._run.requests)
        self.began = time.perf_counter()
        self.send_next()

    def send_next(self) -> bool:
        """Sends the next request of the flow; returns False if there is none."""
        request = next(self._left, None)
        if request is None:
            return False
        self._asked, self._redirects = request, 0
        self.socket.sendall(request.data(self._run))
        return True

    def receive(self) -> bytes | None:
        """Returns the answer to the step, once it is complete. Raises Unexpected,
        ConnectionError."""
        chunk = self.socket.recv(_RECEIVED_AT_ONCE)
        if not chunk:
            raise ConnectionError(f"closed after {self._received!r}")
        answer = self._received + chunk
        end = answer.find(b"\r\n\r\n")
        length = _LENGTH.search(answer, 0, end + 2) if end >= 0 else None
        if end >= 0 and length is None:
            raise Unexpected(f"no Content-Length in {answer!r}")
        if length is None or len(answer) < end + 4 + int(length[1]):
            self._received = answer
            return None
        self._received = b""
        return answer if self._is_final(answer) else None

    def _is_final(self, answer: bytes) -> bool:
        """Takes what the step takes; if it is a redirect before the expected answer, follows it
        and returns False. Raises Unexpected."""
        run, asked = self._run, self._asked
        if asked.is_browser:
            head = answer.partition(b"\r\n\r\n")[0].decode()
            run.cookies.update(_COOKIE.findall(head))
        taken = asked.taken_from(answer)
        if taken is not None:
            run.held.update(taken)
            return True
        redirect = _LOCATION.search(head) if asked.is_browser else None
        if redirect is None or self._redirects == _MAX_REDIRECTS:
            raise Unexpected(f"{asked}\n{answer!r}")
        self._redirects += 1
        run.held[ADDRESS] = redirect[1]
        self.socket.sendall(asked.redirected(redirect[1], run))
        return False


def once(port: int, flow: Flow) -> list[bytes]:
    """Returns the answers to a flow that is run once."""
    connection = PersistentConnection(port, flow)
    with connection.connection.socket:
        return connection.once()


class PersistentConnection:
    """A persistent connection on which a flow is run on demand."""

    def __init__(self, port: int, flow: Flow) -> None:
        self.connection = Connection(port, itertools.cycle([_FlowRun(flow)]))

    def once(self) -> list[bytes]:
        """Returns the answers to the flow. Raises Unexpected, ConnectionError."""
        answers = []
        self.connection.begin()
        while True:
            answer = self.connection.receive()
            if answer is not None:
                answers.append(answer)
                if not self.connection.send_next():
                    return answers


class _Followed:
    """A plan that is being followed: the values that its flows hold last from one order to the
    next."""

    def __init__(self, plan: Plan) -> None:
        self._port = plan.port
        shares = [plan.flows[n :: plan.connections] for n in range(plan.connections)]
        self._runs = [itertools.cycle([_FlowRun(flow) for flow in share]) for share in shares]

    def follow(self, seconds: float) -> Sample:
        connections = [Connection(self._port, runs) for runs in self._runs]
        cpu, began = time.process_time(), time.perf_counter()
        latencies = _keep_busy(connections, began + seconds)
        took, cpu = time.perf_counter() - began, time.process_time() - cpu
        return Sample(len(latencies), took, cpu, latencies)


def _keep_busy(connections: Sequence[Connection], ends_at: float) -> list[float]:
    """Keeps every connection busy until `ends_at`, then waits for the last answers."""
    latencies: list[float] = []
    busy = {connection.socket.fileno(): connection for connection in connections}
    with select.epoll() as poll:
        for number, connection in busy.items():
            poll.register(number, select.EPOLLIN)
            connection.begin()
        while busy:
            ready = poll.poll(PATIENCE_SECONDS)
            if not ready:
                raise TimeoutError(f"no answer for {PATIENCE_SECONDS} s")
            for number, _ in ready:
                connection = busy[number]
                if connection.receive() is None or connection.send_next():
                    continue
                now = time.perf_counter()
                latencies.append(now - connection.began)
                if now < ends_at:
                    connection.begin()
                else:
                    poll.unregister(number)
                    busy.pop(number).socket.close()
    return latencies


def main() -> None:
    """Follows orders until the input ends."""
    plans: dict[str, _Followed] = {}
    for line in sys.stdin.buffer:
        order = msgspec.json.decode(line, type=Order)
        if order.plan is not None:
            plans[order.name] = _Followed(order.plan)
        sample = plans[order.name].follow(order.seconds)
        sys.stdout.buffer.write(msgspec.json.encode(sample) + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
