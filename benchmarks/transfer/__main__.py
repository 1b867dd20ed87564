"""`python -m benchmarks.transfer`: import very many people, and print how long that takes."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from benchmarks.storage import places
from benchmarks.transfer import imports, packages, report, yardstick
from tests.support.servers.mongod import fresh_database

BACK_ENDS = ("sqlite", "mongodb")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures each back end; returns 1 if a target is missed."""
    options = _parser().parse_args(arguments)
    all_figures: list[report.Figure] = []
    with ExitStack() as stack:
        place = stack.enter_context(places.directory(options.directory))
        package = packages.write(place / "package.json", options.users)
        megabytes = package.file.stat().st_size / 2**20
        print(f"{package.people} people, {package.rows} rows, {megabytes:.1f} MB")
        for back_end in options.back_end or BACK_ENDS:
            all_figures += _measured(back_end, place / back_end, package, options)
    is_met = not any(figure.is_met is False for figure in all_figures)
    print("\nevery target is met" if is_met else "\na target is missed")
    return 0 if is_met else 1


def _measured(
    back_end: str, directory: Path, package: packages.Package, options: argparse.Namespace
) -> list[report.Figure]:
    directory.mkdir()
    count = min(options.yardstick, package.people)
    with _store(back_end, directory / "alone", options.mongodb) as url:
        parts = yardstick.measured(url, directory / "alone", package.file, count)
    with _store(back_end, directory, options.mongodb) as url:
        done = imports.measured(directory, package, url)
    figures = report.figures(package, done, parts)
    load = os.getloadavg()[0]
    print(f"\n{back_end}; the machine's load of the last minute is {load:.1f}")
    print(report.table(figures))
    print(f"\n{report.parts_table(parts)}", flush=True)
    return figures


@contextmanager
def _store(back_end: str, directory: Path, url: str | None) -> Iterator[str]:
    """Returns a context with the URL of a new store, which is deleted afterwards."""
    if back_end == "sqlite":
        yield f"sqlite:///{directory / 'store.sqlite3'}"
        return
    with places.server(url) as server, fresh_database(server) as database:
        yield database


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m benchmarks.transfer", description=__doc__)
    parser.add_argument("--users", type=int, default=100_000, help="how many people come")
    parser.add_argument(
        "--yardstick", type=int, default=20_000, help="so many of them for the yardstick"
    )
    parser.add_argument("--mongodb", metavar="URL", help="a replica set, instead of one's own")
    parser.add_argument("--directory", type=Path, help="where the data directories go")
    parser.add_argument("--back-end", action="append", choices=BACK_ENDS)
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
