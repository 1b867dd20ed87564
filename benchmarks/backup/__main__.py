"""`python -m benchmarks.backup`: the processor time of backups and restores."""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.backup.filling import fill
from benchmarks.storage import places
from benchmarks.tables import aligned
from tests.support.servers.mongod import fresh_database

_PASSPHRASE = "correct horse battery"


_COMMANDS: Final[Mapping[str, Sequence[str]]] = {
    "backup": ["backup", "make", "made.idp", "--data", "data", "--overwrite"],
    "verify": ["backup", "verify", "made.idp"],
    "restore into SQLite": ["restore", "made.idp", "--data", "other"],
}


class Spent(NamedTuple):
    """Processor and elapsed seconds of a command, and its memory in MB."""

    processor: float
    elapsed: float
    megabytes: float

    def cells(self) -> list[str]:
        """The figures as cells of a table."""
        return [f"{self.processor:.1f}", f"{self.elapsed:.1f}", f"{self.megabytes:.0f}"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Fills a store, and measures each command on it, with each tree of the program in turn."""
    options = _parser().parse_args(arguments)
    rows = [["", "processor s", "elapsed s", "MB"]]
    with ExitStack() as stack:
        place = stack.enter_context(places.directory(options.directory))
        asyncio.run(fill(place / "data", options.people))
        (place / "secret").write_text(_PASSPHRASE)
        (place / "secret").chmod(0o600)
        mongodb = stack.enter_context(places.server(None)) if options.mongodb_too else None
        trees = (options.beside, Path.cwd()) if options.beside else (Path.cwd(),)
        for tree in trees * options.rounds:
            rows += [
                [f"{tree.name}: {name}", *cells] for name, cells in _measured(place, tree, mongodb)
            ]
        size = (place / "made.idp").stat().st_size
    print(f"{options.people} people, a backup of {size / 1e6:.1f} MB")
    print(aligned(rows))
    return 0


def _measured(place: Path, tree: Path, mongodb: str | None) -> Iterator[tuple[str, list[str]]]:
    """Returns the figures of each command of a tree."""
    for name, words in _COMMANDS.items():
        yield name, _run(place, tree, words).cells()
    if mongodb is not None:
        with fresh_database(mongodb) as url:
            words = ["restore", "made.idp", "--data", "shared", "--store", url]
            yield "restore into MongoDB", _run(place, tree, words).cells()
    for left in ("other", "shared"):
        shutil.rmtree(place / left, ignore_errors=True)


def _run(place: Path, tree: Path, words: Sequence[str]) -> Spent:
    command = [sys.executable, "-P", "-m", "idp", *words, "--passphrase-file", "secret"]
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    began = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=place, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"idp {' '.join(words)} ended with {process.returncode}")
    elapsed = time.perf_counter() - began
    return Spent(used.ru_utime + used.ru_stime, elapsed, used.ru_maxrss / 1024)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.backup", description=__doc__)
    parser.add_argument("--people", type=int, default=36_667, help="three records each")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--directory", type=Path, help="where the stores are made")
    parser.add_argument("--beside", type=Path, help="another tree of the program, in turns")
    parser.add_argument("--mongodb-too", action="store_true")
    return parser


if __name__ == "__main__":
    sys.exit(main())
