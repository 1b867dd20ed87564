"""The targets and the results of an import, as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from benchmarks.tables import aligned
from benchmarks.transfer.imports import Imported
from benchmarks.transfer.packages import Package
from benchmarks.transfer.yardstick import Parts

PEOPLE_A_SECOND: Final = 5000.0  # a hundred thousand in twenty seconds
MANY: Final = 1_000_000
STEADINESS: Final = 0.8  # of many
GROWTH_MEGABYTES: Final = 200.0
P99_MILLISECONDS: Final = 250.0
STALL_MILLISECONDS: Final = 100.0


class Figure(NamedTuple):
    """A line of the table; `is_met` is None if there is no target or the value can't be
    determined."""

    name: str
    value: str
    asked: str = ""
    is_met: bool | None = None

    def cells(self) -> tuple[str, ...]:
        verdict = {True: "met", False: "missed", None: ""}[self.is_met]
        return self.name, self.value, self.asked, verdict


def figures(package: Package, done: Imported, parts: Parts) -> list[Figure]:
    """Returns all measured values, with their targets."""
    rows = done.job.get("done", 0)
    return [
        _at_most("seconds", done.seconds, package.people / PEOPLE_A_SECOND, 1),
        Figure("  of which the package was sent in", f"{done.sent_seconds:.1f}"),
        Figure("rows", f"{rows}"),
        Figure("rows a second", f"{rows / done.seconds:.0f}"),
        Figure("of bare commit_each", f"{rows / done.seconds / parts.commits_a_second:.2f}"),
        _steadiness(done.steadiness, package.people),
        Figure("memory of the idle service, MB", f"{done.spending.idle_megabytes:.0f}"),
        _growth("growth of the service, MB", done.spending.server_growth),
        _growth("growth with all processes of the job, MB", done.spending.growth),
        Figure("userinfo p50, ms", f"{done.latency(50):.1f}"),
        _at_most("userinfo p99, ms", done.latency(99), P99_MILLISECONDS, 1),
        _at_most(
            "longest stall of the loop, ms", done.longest_stall * 1000, STALL_MILLISECONDS, 1
        ),
        _whole("people who are there", done.stored, package.people),
        _whole("who sign in, of those tried", done.signed_in, len(package.tried)),
        *_processor(done, rows),
    ]


def table(lines: Sequence[Figure]) -> str:
    return aligned([("", "measured", "asked", ""), *(figure.cells() for figure in lines)])


def parts_table(parts: Parts) -> str:
    """Returns a table with the time of each part of the import for one person, alone in a
    process."""
    lines = [
        (
            name,
            f"{part.cpu_seconds / parts.rows * 1e6:.0f}",
            f"{part.seconds / parts.rows * 1e6:.0f}",
        )
        for name, part in parts.by_name.items()
    ]
    return aligned([(f"each by itself, of {parts.rows} people", "µs of CPU", "µs"), *lines])


def _processor(done: Imported, rows: int) -> list[Figure]:
    """Returns the processor time of the processes; that of the service includes its other
    requests."""
    cores = done.spending.server_seconds / done.seconds
    lines = [Figure("cores that the service kept busy", f"{cores:.2f}")]
    if done.spending.job_seconds is not None:
        seconds = done.spending.job_seconds / max(rows, 1)
        lines.append(Figure("CPU of the job's processes, µs a row", f"{seconds * 1e6:.0f}"))
    return lines


def _at_most(name: str, value: float, limit: float, places: int) -> Figure:
    return Figure(name, f"{value:.{places}f}", f"≤ {limit:g}", value <= limit)


def _whole(name: str, value: int, expected: int) -> Figure:
    return Figure(name, f"{value}", f"{expected}", value == expected)


def _growth(name: str, value: float) -> Figure:
    return _at_most(name, value, GROWTH_MEGABYTES, 0)


def _steadiness(value: float | None, people: int) -> Figure:
    """There is a target for many people only: with few, the first rows meet an empty store, and
    the last ones do not."""
    name = "rate of the last tenth by that of the first"
    asked = f"≥ {STEADINESS:g}" if people >= MANY else ""
    if value is None:
        return Figure(name, "too quick to tell", asked)
    return Figure(name, f"{value:.2f}", asked, value >= STEADINESS if asked else None)
