"""`python -m benchmarks.protocol`: measure, print tables, and list the targets that are missed."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import cryptography
import msgspec
import tornado

from benchmarks.protocol import reached, results
from benchmarks.protocol.results import Memory, Result
from benchmarks.protocol.rounds import loading
from benchmarks.protocol.runs import Measurement, Run
from benchmarks.protocol.scenarios import SCENARIOS
from benchmarks.storage.places import directory
from tests.interop.node import NoNode
from tests.support.servers.mongod import replica_set

STORES: Final = ("sqlite", "mongodb")
FAILED: Final = 1
UNABLE: Final = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures the chosen scenarios; returns 1 if a target is missed, 2 if a yardstick is not
    installed."""
    options = _parser().parse_args(arguments)
    all_results: list[Result] = []
    memory: list[Memory] = []
    conditions = _conditions(options)
    print(" · ".join(f"{name} {value}" for name, value in conditions.items()))
    try:
        for store in options.store or STORES:
            with _database(store, options.mongodb) as (url, pid):
                for processes in options.processes or (1, 2):
                    new_results, new_memory = _measured(options, store, url, pid, processes)
                    all_results += new_results
                    memory.append(new_memory)
    except NoNode as error:
        print(f"{error}\nwithout it: --without-node", file=sys.stderr)
        return UNABLE
    if options.json:
        options.json.write_bytes(_document(conditions, all_results, memory))
    return _exit_code(all_results, memory)


def _measured(
    options: argparse.Namespace, store: str, url: str, pid: int | None, processes: int
) -> tuple[list[Result], Memory]:
    measurement = Measurement(
        scenarios={name: SCENARIOS[name] for name in options.scenario or SCENARIOS},
        store=store,
        database=url,
        database_pid=pid,
        processes=processes,
        count=options.count,
        rounds=options.rounds,
        seconds=options.seconds,
        memory_after=options.memory_after,
        with_node=not options.without_node,
    )
    with directory(options.directory) as place, loading() as load:
        run = Run(measurement, place, load)
        measured_results, memory = run.measured()
        table = results.table(measured_results)
        print(f"\n{store}, {processes} process{'es' * (processes > 1)}\n{table}")
        print(_told(memory), flush=True)
        for result in measured_results:
            if options.profile or list(results.missed([result], [])):
                print(
                    f"\nprofile of {result.scenario} on {store}\n{run.profile(result)}", flush=True
                )
    return measured_results, memory


def _told(memory: Memory) -> str:
    line = f"memory after {memory.requests:,} requests: {memory.megabytes:.0f} MB"
    if memory.megabytes_after_sign_ins is not None:
        line += f"; after the sign-ins: {memory.megabytes_after_sign_ins:.0f} MB"
    return line


@contextmanager
def _database(store: str, url: str | None) -> Iterator[tuple[str, int | None]]:
    """Returns the URL of the replica set (none for SQLite), and the id of its process if it is
    known."""
    if store == "sqlite":
        yield "", None
    elif url is not None:
        yield url, None
    else:
        with replica_set() as running:
            process = running.members[0].process
            yield running.url, process.pid if process else None


def _exit_code(measured_results: Sequence[Result], memory: Sequence[Memory]) -> int:
    print(f"\n{reached.table(measured_results)}")
    wishes = list(results.missed(measured_results, memory, wishes=True))
    if wishes:
        print("\n" + "\n".join(["not as wished:", *wishes]))
    missed = list(results.missed(measured_results, memory))
    print("\n" + ("\n".join(["missed:", *missed]) if missed else "every target is met"))
    return FAILED if missed else 0


def _conditions(options: argparse.Namespace) -> dict[str, Any]:
    return {
        "rounds": options.rounds,
        "seconds": options.seconds,
        "distinct": options.count,
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
        "tornado": tornado.version,
        "cryptography": cryptography.__version__,
    }


def _document(
    conditions: dict[str, Any], measured_results: Sequence[Result], memory: Sequence[Memory]
) -> bytes:
    rows = [
        {
            **msgspec.to_builtins(result),
            "ratios": {
                name: {"cpu": result.cpu_ratio(name), "rate": result.rate_ratio(name)}
                for name in result.figures
                if name != results.OURS
            },
        }
        for result in measured_results
    ]
    document = {"conditions": conditions, "results": rows, "memory": memory}
    return msgspec.json.format(msgspec.json.encode(document), indent=2)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m benchmarks.protocol", description=__doc__)
    add = parser.add_argument
    add("--scenario", action="append", choices=SCENARIOS, help="only this one; may be repeated")
    add("--store", action="append", choices=STORES, help="only this one")
    add("--processes", action="append", type=int, help="only so many; 1 and 2 by default")
    add("--rounds", type=int, default=5, help="turns of the service and its yardsticks")
    add("--seconds", type=float, default=1.0, help="length of a turn")
    add("--count", type=int, default=500, help="people, service users and distinct tokens")
    add("--memory-after", type=int, default=100_000, help="requests before memory is read")
    add("--profile", action="store_true", help="show where the time goes, in every scenario")
    add("--without-node", action="store_true", help="leave oidc-provider out")
    add("--json", type=Path, metavar="FILE", help="everything that was measured")
    add("--mongodb", metavar="URL", help="a replica set; its targets are not judged")
    add("--directory", type=Path, help="where SQLite's files go")
    return parser


if __name__ == "__main__":
    sys.exit(main())
