"""`python -m benchmarks.storage`: measure, print a table, and list the targets that are missed."""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import sqlite3
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pymongo

from benchmarks.storage import places, report
from benchmarks.storage.rounds import Result, measured


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures the chosen back ends; returns 1 if a target is missed."""
    options = _parser().parse_args(arguments)
    results: dict[str, list[Result]] = {}
    with ExitStack() as stack:
        directory = stack.enter_context(places.directory(options.directory))
        conditions = _conditions(directory, options)
        print(" · ".join(f"{name} {value}" for name, value in conditions.items()))
        for back_end in options.back_end or places.BACK_ENDS:
            place: Any = directory
            if back_end != "sqlite":
                options.mongodb = stack.enter_context(places.server(options.mongodb))
                place = options.mongodb
            measuring = _measured(back_end, place, options.rounds, options.seconds)
            results[back_end] = asyncio.run(measuring)
            print(f"\n{back_end}\n{report.table(back_end, results[back_end])}", flush=True)
    if options.json:
        options.json.write_bytes(report.document(conditions, results))
    return _exit_code(results)


async def _measured(back_end: str, place: str | Path, rounds: int, seconds: float) -> list[Result]:
    async with places.comparing(back_end, place) as comparisons:
        return [await measured(comparison, rounds, seconds) for comparison in comparisons]


def _exit_code(results: dict[str, list[Result]]) -> int:
    missed = [
        f"{back_end}: {result.target.sentence}: {result.ratio:.2f},"
        f" asked {result.target.at_least:.2f}"
        for back_end, of_back_end in results.items()
        for result in of_back_end
        if result.target is not None and result.ratio < result.target.at_least
    ]
    print("\n" + ("\n".join(["missed:", *missed]) if missed else "every target is met"))
    return 1 if missed else 0


def _conditions(directory: Path, options: argparse.Namespace) -> dict[str, Any]:
    return {
        "rounds": options.rounds,
        "seconds": options.seconds,
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2),
        "sync µs": round(places.sync_microseconds(directory)),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "pymongo": pymongo.version,
    }


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m benchmarks.storage", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="turns of yardstick and store")
    parser.add_argument("--seconds", type=float, default=0.3, help="length of a turn")
    parser.add_argument("--json", type=Path, metavar="FILE", help="everything that was measured")
    parser.add_argument("--mongodb", metavar="URL", help="a replica set, instead of one's own")
    parser.add_argument("--directory", type=Path, help="where SQLite's file goes")
    parser.add_argument("--back-end", action="append", choices=places.BACK_ENDS)
    return parser


if __name__ == "__main__":
    sys.exit(main())
