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

HELD: Final = "@@"
PATIENCE_SECONDS: Final = 20
_RECEIVED_AT_ONCE: Final = 64 * 1024
_LENGTH: Final = re.compile(rb"(?i)\r\ncontent-length: *([0-9]+)")


class Step(Struct, frozen=True, omit_defaults=True):
    """One request: its head without Content-Length, and its form.

    `HELD` in either is replaced by the value that the flow holds; `takes` finds in the answer the
    value that it holds from then on.
    """

    head: str
    form: str = ""
    status: int = 200
    takes: str = ""


class PendingSignIn(Struct, frozen=True, omit_defaults=True):
    """A sequence of requests, which together count as one operation."""

    steps: list[Step]
    held: str = ""


class Plan(Struct, frozen=True):
    """The server and the flows; each connection repeats its flows."""

    port: int
    flows: list[PendingSignIn]
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
        self._step = step
        self._always = None if HELD in step.head + step.form else _encoded(step, "")
        self._status = str(step.status).encode()
        self._takes = re.compile(step.takes.encode()) if step.takes else None

    def data(self, held: str) -> bytes:
        return self._always or _encoded(self._step, held)

    def taken_from(self, answer: bytes) -> str | None:
        """Returns the value that the step takes from the answer. Raises Unexpected."""
        if answer[9:12] != self._status:
            raise Unexpected(f"{self._step.head}{self._step.form}\n{answer!r}")
        if self._takes is None:
            return None
        match = self._takes.search(answer)
        if match is None:
            raise Unexpected(f"no {self._takes.pattern!r} in {answer!r}")
        return match[1].decode()


def _encoded(step: Step, held: str) -> bytes:
    head, form = step.head.replace(HELD, held), step.form.replace(HELD, held)
    if form:
        head += f"Content-Length: {len(form)}\r\n"
    return f"{head}\r\n{form}".encode()


class _FlowRun:
    """A flow with the value that it holds now."""

    def __init__(self, flow: PendingSignIn) -> None:
        self.requests = [_Request(step) for step in flow.steps]
        self.held = flow.held


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
        self._left = iter(self._run.requests)
        self.began = time.perf_counter()
        self.send_next()

    def send_next(self) -> bool:
        """Sends the next request of the flow; returns False if there is none."""
        request = next(self._left, None)
        if request is None:
            return False
        self._asked = request
        self.socket.sendall(request.data(self._run.held))
        return True

    def receive(self) -> bytes | None:
        """Returns the answer, once it is complete. Raises Unexpected, ConnectionError."""
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
        taken = self._asked.taken_from(answer)
        if taken is not None:
            self._run.held = taken
        return answer


def once(port: int, flow: PendingSignIn) -> list[bytes]:
    """Returns the answers to a flow that is run once."""
    connection = PersistentConnection(port, flow)
    with connection.connection.socket:
        return connection.once()


class PersistentConnection:
    """A persistent connection on which a flow is run on demand."""

    def __init__(self, port: int, flow: PendingSignIn) -> None:
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
