"""A run at one place: a store, so many processes, and the yardsticks that stand beside them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import Final

import msgspec
from msgspec import Struct

from benchmarks.protocol import places, profiled, rounds
from benchmarks.protocol.places import Place
from benchmarks.protocol.processes import Server
from benchmarks.protocol.profiled import Profile
from benchmarks.protocol.results import OURS, Memory, Result
from benchmarks.protocol.rounds import Asked, Contestant, Load, Signing
from benchmarks.protocol.scenarios import Scenario
from tests.support.mongod import fresh_database

PROFILE_SECONDS: Final = 4.0
_TOP_UP_SECONDS: Final = 2.0
_MEGABYTE: Final = 1024 * 1024


class Measurement(Struct, frozen=True, kw_only=True):
    """What to measure. `database` is the replica set's URL, none for SQLite."""

    scenarios: Mapping[str, Scenario]
    store: str
    database: str
    database_pid: int | None
    processes: int
    count: int
    rounds: int
    seconds: float
    memory_after: int
    with_node: bool


class Run:
    """Starts the servers, and lets the load ask them."""

    def __init__(self, measurement: Measurement, directory: Path, load: Load) -> None:
        self._measurement = measurement
        self._directory = directory
        self._load = load

    def measured(self) -> tuple[list[Result], Memory]:
        """Every scenario, then the memory. Raises NoNode."""
        with ExitStack() as stack:
            ours = stack.enter_context(self._service("idp"))
            scenarios, processes = self._measurement.scenarios, self._measurement.processes
            bare = stack.enter_context(places.bare(self._directory, ours, scenarios, processes))
            other = stack.enter_context(self._oidc_provider())
            found = [self._result(name, ours, bare, other) for name in scenarios]
            return found, self._memory(ours)

    def profile(self, result: Result) -> str:
        """Where the time of a scenario goes, by a service of its own."""
        file = self._directory / "profile"
        os.environ[profiled.FILE_VARIABLE] = str(file)
        with self._service("benchmarks.protocol.profiled", processes=1) as place:
            scenario = self._measurement.scenarios[result.scenario]
            asked = self._asked(f"profile of {result.scenario}", place, scenario)
            asked.turn(self._measurement.seconds / 4)
            os.kill(place.server.pids[0], profiled.BEGIN)
            asked.turn(min(PROFILE_SECONDS, self._measurement.seconds * 4))
        profile = msgspec.json.decode(file.read_bytes(), type=Profile)
        return profiled.table(profile, result.figures[OURS].cpu_ms)

    @contextmanager
    def _service(self, module: str, processes: int = 0) -> Iterator[Place]:
        directory = Path(mkdtemp(dir=self._directory))
        measurement = self._measurement
        with (
            self._store() as store,
            places.service(
                directory, store, processes or measurement.processes, measurement.count, module
            ) as place,
        ):
            yield place

    @contextmanager
    def _store(self) -> Iterator[str]:
        if not self._measurement.database:
            yield ""
            return
        with fresh_database(self._measurement.database) as url:
            yield url

    @contextmanager
    def _oidc_provider(self) -> Iterator[Place | None]:
        """One process of it stands beside one of ours."""
        if self._measurement.processes > 1 or not self._measurement.with_node:
            yield None
            return
        with (
            self._store() as url,
            places.oidc_provider(self._directory, url, self._measurement.count) as place,
        ):
            yield place

    def _result(self, name: str, ours: Place, bare: Server, other: Place | None) -> Result:
        measurement, scenario = self._measurement, self._measurement.scenarios[name]
        contestants: dict[str, Contestant] = {OURS: self._asked(name, ours, scenario)}
        flows = places.at_bare(name, scenario.flows(ours.party))
        contestants["bare"] = Asked(self._load, f"bare {name}", bare, flows, None)
        if other is not None and scenario.is_common:
            their = f"{other.server.name} {name}"
            contestants[other.server.name] = self._asked(their, other, scenario)
        if scenario.signed:
            contestants["RS256 alone"] = Signing()
        figures = rounds.measured(contestants, measurement.rounds, measurement.seconds)
        targets = [
            each
            for each in scenario.targets
            if each.store == measurement.store
            and each.yardstick in figures
            and measurement.processes == 1
        ]
        return Result(measurement.store, measurement.processes, name, figures, targets)

    def _asked(self, name: str, place: Place, scenario: Scenario) -> Asked:
        """The first flow is spent: the bare handlers' answers came of it."""
        _, *flows = scenario.flows(place.party)
        return Asked(self._load, name, place.server, flows, self._measurement.database_pid)

    def _memory(self, ours: Place) -> Memory:
        """What the service has in memory when it has answered enough."""
        scenario = next(iter(self._measurement.scenarios.values()))
        asked = self._asked("memory", ours, scenario)
        while ours.server.requests < self._measurement.memory_after:
            asked.turn(_TOP_UP_SECONDS)
        megabytes = ours.server.resident_bytes() / _MEGABYTE
        measurement = self._measurement
        return Memory(measurement.store, measurement.processes, ours.server.requests, megabytes)
