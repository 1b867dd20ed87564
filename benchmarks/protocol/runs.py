"""A run at one place: a store, a number of processes, and the yardsticks."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import Final

import msgspec
from msgspec import Struct, structs

from benchmarks.protocol import places, profiled, rounds
from benchmarks.protocol.places import Place
from benchmarks.protocol.processes import Server
from benchmarks.protocol.profiled import Profile
from benchmarks.protocol.results import OURS, Memory, Result
from benchmarks.protocol.rounds import Asked, Contestant, Figures, Load
from benchmarks.protocol.scenarios import BARE, Scenario, Target
from tests.support.servers.mongod import fresh_database

PROFILE_SECONDS: Final = 4.0
_TOP_UP_SECONDS: Final = 2.0
_MEGABYTE: Final = 1024 * 1024


class Measurement(Struct, frozen=True, kw_only=True):
    """The options of a measurement. `database` is the replica set's URL, none for SQLite."""

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
    """Starts the servers, and has the load send requests to them."""

    def __init__(self, measurement: Measurement, directory: Path, load: Load) -> None:
        self._measurement = measurement
        self._directory = directory
        self._load = load

    def measured(self) -> tuple[list[Result], Memory]:
        """Measures every scenario and the memory, which is read before passwords are hashed: each
        thread that hashes keeps what a hash takes. Raises NoNode."""
        with ExitStack() as stack:
            ours = stack.enter_context(self._service("idp"))
            scenarios, processes = self._measurement.scenarios, self._measurement.processes
            bare = stack.enter_context(places.bare(self._directory, ours, scenarios, processes))
            others = stack.enter_context(self._oidc_providers())
            slow = [name for name in scenarios if scenarios[name].has_password]
            quick = [name for name in scenarios if name not in slow]
            # Node compiles while it runs: it needs thousands of requests to be as fast as it gets.
            self._result(next(iter(scenarios)), ours, bare, others)
            results = [self._result(name, ours, bare, others) for name in quick]
            memory = self._memory(ours)
            results += [self._result(name, ours, bare, others) for name in slow]
            if slow:
                megabytes = ours.server.resident_bytes() / _MEGABYTE
                memory = structs.replace(memory, megabytes_after_sign_ins=megabytes)
            return results, memory

    def profile(self, result: Result) -> str:
        """Returns the profile of a scenario, measured with a separate service."""
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
    def _oidc_providers(self) -> Iterator[list[Place]]:
        """Starts one process of oidc-provider over MongoDB, or else one in memory and one over a
        file of SQLite."""
        if self._measurement.processes > 1 or not self._measurement.with_node:
            yield []
            return
        with ExitStack() as stack:
            databases = [stack.enter_context(self._store())]
            if not self._measurement.database:
                directory = Path(mkdtemp(dir=self._directory))
                databases.append(str((directory / "oidc-provider.sqlite3").absolute()))
            yield [
                stack.enter_context(
                    places.oidc_provider(self._directory, database, self._measurement.count)
                )
                for database in databases
            ]

    def _result(self, name: str, ours: Place, bare: Server, others: Sequence[Place]) -> Result:
        measurement, scenario = self._measurement, self._measurement.scenarios[name]
        contestants: dict[str, Contestant] = {OURS: self._asked(name, ours, scenario)}
        if scenario.has_bare:
            flows = places.at_bare(name, scenario.flows(ours.party))
            contestants[BARE] = Asked(self._load, f"bare {name}", bare, flows, None)
        for other in others if scenario.is_common else ():
            their = f"{other.server.name} {name}"
            contestants[other.server.name] = self._asked(their, other, scenario)
        if scenario.signed:
            contestants["RS256 alone"] = rounds.signing()
        if scenario.has_password:
            contestants["argon2id alone"] = rounds.password_hashing()
        figures = rounds.measured(contestants, measurement.rounds, measurement.seconds)
        targets = [target for target in scenario.targets if self._is_judged(target, figures)]
        return Result(measurement.store, measurement.processes, name, figures, targets)

    def _is_judged(self, target: Target, figures: Mapping[str, Figures]) -> bool:
        """Returns whether the run has what the target compares: one process and, over MongoDB, the
        processor time of its server, which is known if the run has started it."""
        measurement = self._measurement
        return (
            target.store == measurement.store
            and target.yardstick in figures
            and measurement.processes == 1
            and (not measurement.database or measurement.database_pid is not None)
        )

    def _asked(self, name: str, place: Place, scenario: Scenario) -> Asked:
        """Returns the contestant without the first flow, which has made the bare handlers'
        answers."""
        _, *flows = scenario.flows(place.party)
        return Asked(self._load, name, place.server, flows, self._measurement.database_pid)

    def _memory(self, ours: Place) -> Memory:
        """Returns the memory of the service after enough requests."""
        scenario = next(iter(self._measurement.scenarios.values()))
        asked = self._asked("memory", ours, scenario)
        while ours.server.requests < self._measurement.memory_after:
            asked.turn(_TOP_UP_SECONDS)
        megabytes = ours.server.resident_bytes() / _MEGABYTE
        measurement = self._measurement
        return Memory(measurement.store, measurement.processes, ours.server.requests, megabytes)
