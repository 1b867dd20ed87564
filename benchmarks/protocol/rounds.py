"""Rounds of measurements in turn: the service, then its yardsticks, then the service again."""

from __future__ import annotations

import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from statistics import median, quantiles
from typing import Final

import msgspec
from msgspec import Struct

from benchmarks.protocol.bare import Signer
from benchmarks.protocol.load import Flow, Order, Plan, Sample
from benchmarks.protocol.party import PASSWORD
from benchmarks.protocol.processes import Server, cpu_seconds, python
from idp.foundation.randomness import SystemRandom
from idp.passwords.schemes import argon2

CONNECTIONS: Final = 16
_TO_SIGN: Final = bytes(500)


class Round(Struct, frozen=True):
    """The result of one turn; CPU seconds of the server, and of its database."""

    sample: Sample
    cpu_seconds: float
    database_seconds: float = 0.0


class Figures(Struct, frozen=True):
    """The results of all turns of one contestant.

    `cpu_ms` is the server's CPU time for one operation, which is the same number as CPU seconds
    for 1,000; `busy` are the cores that the server kept busy, and `load_busy` those of the load.
    """

    rate: float
    p50_ms: float
    p99_ms: float
    cpu_ms: float
    database_cpu_ms: float
    busy: float
    load_busy: float


class Load:
    """The process that sends the requests."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._known: set[str] = set()

    def follow(self, name: str, plan: Plan, seconds: float) -> Sample:
        """Sends the requests of the plan of this name. Raises RuntimeError for a wrong answer."""
        assert self._process.stdin
        assert self._process.stdout
        order = Order(name, seconds, None if name in self._known else plan)
        self._known.add(name)
        self._process.stdin.write(msgspec.json.encode(order) + b"\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the load has ended in {name}")
        return msgspec.json.decode(line, type=Sample)


@contextmanager
def loading() -> Iterator[Load]:
    """Returns a context with a load that is ready to send requests."""
    with subprocess.Popen(
        python("benchmarks.protocol.load"), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        try:
            yield Load(process)
        finally:
            process.terminate()


class Contestant(ABC):
    """A server or a computation that can be measured for some seconds."""

    @abstractmethod
    def turn(self, seconds: float) -> Round:
        """Measures one turn of about this length."""


class Asked(Contestant):
    """A server that gets the requests of the load. `database` is the process id of its
    database."""

    def __init__(
        self,
        load: Load,
        name: str,
        server: Server,
        flows: list[Flow],
        database: int | None,
    ) -> None:
        self._load = load
        self._name = name
        self._server = server
        self._plan = Plan(server.port, flows, CONNECTIONS)
        self._database = database

    def turn(self, seconds: float) -> Round:
        cpu, database = self._server.cpu_seconds(), self._database_seconds()
        sample = self._load.follow(self._name, self._plan, seconds)
        cpu, database = self._server.cpu_seconds() - cpu, self._database_seconds() - database
        self._server.requests += sample.operations * len(self._plan.flows[0].steps)
        return Round(sample, cpu, database)

    def _database_seconds(self) -> float:
        return cpu_seconds(self._database) if self._database else 0.0


class Computation(Contestant):
    """A computation in sequence, and nothing else."""

    def __init__(self, compute: Callable[[], object]) -> None:
        self._compute = compute

    def turn(self, seconds: float) -> Round:
        latencies: list[float] = []
        cpu, began = time.process_time(), time.perf_counter()
        done = began
        while not latencies or done < began + seconds:
            last = done
            self._compute()
            done = time.perf_counter()
            latencies.append(done - last)
        cpu = time.process_time() - cpu
        return Round(Sample(len(latencies), done - began, 0.0, latencies), cpu)


def signing() -> Computation:
    """Returns the contestant that signs RS256."""
    signer = Signer()
    return Computation(lambda: signer.sign(_TO_SIGN))


def password_hashing() -> Computation:
    """Returns the contestant that verifies a password as the service does."""
    data = PASSWORD.encode()
    parsed = argon2.read(argon2.RECIPE.hash(data, SystemRandom()))
    return Computation(lambda: parsed.verify(data))


def measured(
    contestants: dict[str, Contestant], rounds: int, seconds: float
) -> dict[str, Figures]:
    """Returns the figures of each contestant, after a first turn that does not count."""
    for contestant in contestants.values():
        contestant.turn(seconds)
    turns = [
        {name: contestant.turn(seconds) for name, contestant in contestants.items()}
        for _ in range(rounds)
    ]
    return {name: _figures([turn[name] for turn in turns]) for name in contestants}


def _figures(rounds: Sequence[Round]) -> Figures:
    samples = [turn.sample for turn in rounds]
    latencies = [latency for sample in samples for latency in sample.latencies]
    percentiles = quantiles(latencies, n=100) if len(latencies) > 1 else latencies * 99
    return Figures(
        rate=median(sample.operations / sample.seconds for sample in samples),
        p50_ms=percentiles[49] * 1000,
        p99_ms=percentiles[98] * 1000,
        cpu_ms=median(turn.cpu_seconds / turn.sample.operations for turn in rounds) * 1000,
        database_cpu_ms=median(turn.database_seconds / turn.sample.operations for turn in rounds)
        * 1000,
        busy=median(turn.cpu_seconds / turn.sample.seconds for turn in rounds),
        load_busy=median(sample.cpu_seconds / sample.seconds for sample in samples),
    )
