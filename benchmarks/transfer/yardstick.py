"""The parts of an import in sequence, without a job and without other requests.

`python -m benchmarks.transfer.yardstick STORE DIRECTORY PACKAGE COUNT` creates a new installation,
takes so many people of the package, and prints the time of each part: only `commit_each` of
prepared units is the yardstick; the others show the use of the processor's time.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from benchmarks.protocol.processes import python
from idp.config import loading as config_loading
from idp.records.jobs import Job
from idp.schema import reading
from idp.start import bootstrap
from idp.transfer import kinds
from idp.transfer.jobs import batches as job_batches
from idp.transfer.jobs.runner import BATCH_ROWS
from idp.transfer.kinds.kind import ImportContext, RowKind
from idp.transfer.package import scratch
from idp.transfer.package.format import Package, open_package
from idp.transfer.package.rows import ParsedRow, Row

MEMBER: Final = "humanUsers"
COMMIT: Final = "commit_each of ready units"


class Part(Struct):
    """The elapsed time of a part, and its processor time in all threads, in seconds."""

    seconds: float = 0.0
    cpu_seconds: float = 0.0


class Parts(Struct):
    """The parts, for so many rows."""

    rows: int
    by_name: dict[str, Part]

    @property
    def commits_a_second(self) -> float:
        return self.rows / self.by_name[COMMIT].seconds


def measured(store: str, directory: Path, package: Path, count: int) -> Parts:
    """Returns the measurement of a separate process."""
    arguments = [store, str(directory), str(package), str(count)]
    command = python("benchmarks.transfer.yardstick", *arguments)
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    return msgspec.json.decode(output.splitlines()[-1], type=Parts)


class _Watch:
    def __init__(self) -> None:
        self.parts: dict[str, Part] = {}

    @contextmanager
    def on(self, name: str) -> Iterator[None]:
        part = self.parts.setdefault(name, Part())
        began, used = time.perf_counter(), time.process_time()
        yield
        part.seconds += time.perf_counter() - began
        part.cpu_seconds += time.process_time() - used


async def _measure(store: str, directory: Path, file: Path, count: int) -> Parts:
    given = {"store": store, "data": str(directory), "issuer": "http://localhost:8080"}
    service = await bootstrap.open_service(config_loading.load(given, {}).config)
    try:
        await bootstrap.make_ready(service)
        now = service.clock.now()
        job = Job(id="yardstick", state="running", actor="", created_at=now, changed_at=now)
        with scratch.directory() as place:
            watch = _Watch()
            with watch.on("looking the package through"):
                package = open_package(file, place)
            looked = watch.parts["looking the package through"]
            share = count / package.counts[MEMBER]
            looked.seconds, looked.cpu_seconds = looked.seconds * share, looked.cpu_seconds * share
            rows = await _gone_through(ImportContext(service, job), package, count, watch)
        return Parts(rows, watch.parts)
    finally:
        await bootstrap.close_service(service)


async def _gone_through(
    context: ImportContext, package: Package, count: int, watch: _Watch
) -> int:
    batches = package.batches(0, BATCH_ROWS)
    done = 0
    while done < count:
        with watch.on("reading rows from the disk"):
            rows = next(batches, None)
        if rows is None:
            break
        if rows[0].member != MEMBER:
            await job_batches.process(context, rows)
        else:
            await _stored(context, kinds.BY_MEMBER[MEMBER], rows, watch)
            done += len(rows)
    return done


async def _stored(context: ImportContext, kind: RowKind, rows: list[Row], watch: _Watch) -> None:
    assert kind.request is not None and kind.plan is not None  # noqa: PT018, S101 - for mypy
    with watch.on("judging fields"):
        parsed_rows = [
            ParsedRow(row, reading.collect(kind.request, row.document)[0]) for row in rows
        ]
    with watch.on("preparing units"):
        plans = await kind.plan(context, parsed_rows)
    with watch.on(COMMIT):
        outcomes = await context.service.store.commit_each([plan.writes for plan in plans])
    if any(outcomes):
        raise RuntimeError(f"not stored: {next(filter(None, outcomes))!r}")


if __name__ == "__main__":
    _store, _directory, _file, _count = sys.argv[1:]
    _found = asyncio.run(_measure(_store, Path(_directory), Path(_file), int(_count)))
    sys.stdout.buffer.write(msgspec.json.encode(_found) + b"\n")
