"""The results of the measurements, compared with the targets, and as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from benchmarks.protocol.rounds import Figures
from benchmarks.protocol.scenarios import Target
from benchmarks.tables import aligned

OURS = "idp"
MAX_MEGABYTES = 90
WISHED_MEGABYTES = 80
_HEAD = (
    "",
    "requests/s",
    "p50 ms",
    "p99 ms",
    "CPU s/1,000",
    "database",
    "cores",
    "load",
    "CPU ratio",
    "rate ratio",
    "asked",
)


class Result(Struct, frozen=True):
    """The figures of the service and of its yardsticks in one scenario, at one place."""

    store: str
    processes: int
    scenario: str
    figures: dict[str, Figures]
    targets: list[Target] = []

    def cpu_ratio(self, yardstick: str) -> float:
        """Returns the yardstick's processor time for an operation, divided by the service's. Where
        both ask the same database, its time counts on both sides."""
        theirs, ours = self.figures[yardstick], self.figures[OURS]
        if theirs.database_cpu_ms:
            return (theirs.cpu_ms + theirs.database_cpu_ms) / (ours.cpu_ms + ours.database_cpu_ms)
        return theirs.cpu_ms / ours.cpu_ms

    def rate_ratio(self, yardstick: str) -> float:
        """Returns the service's operations a second, divided by the yardstick's."""
        return self.figures[OURS].rate / self.figures[yardstick].rate


class Memory(Struct, frozen=True):
    """The memory of the process that had the most, after so many requests to all of them, and
    after the sign-ins that followed, if there were any."""

    store: str
    processes: int
    requests: int
    megabytes: float
    megabytes_after_sign_ins: float | None = None


def missed(
    results: Sequence[Result], memory: Sequence[Memory], *, wishes: bool = False
) -> Iterator[str]:
    """Returns a sentence for each target that is missed, or for each wish."""
    verb, limit = ("wished", WISHED_MEGABYTES) if wishes else ("asked", MAX_MEGABYTES)
    for result in results:
        for target in result.targets:
            ratio = result.cpu_ratio(target.yardstick)
            if target.is_wish is wishes and ratio < target.at_least:
                yield (
                    f"{result.scenario} on {result.store}: {ratio:.2f} of {target.yardstick},"
                    f" {verb} {target.at_least:.2f}"
                )
    for process_memory in memory:
        if process_memory.megabytes > limit:
            yield (
                f"memory on {process_memory.store} after {process_memory.requests:,} requests:"
                f" {process_memory.megabytes:.0f} MB, {verb} {limit}"
            )


def table(results: Sequence[Result]) -> str:
    """Returns a line for the service and for each yardstick in every scenario of one place."""
    rows: list[tuple[str, ...]] = [_HEAD]
    for result in results:
        rows.append((result.scenario, *[""] * (len(_HEAD) - 1)))
        rows += [_row(result, name) for name in result.figures]
    return aligned(rows)


def _row(result: Result, name: str) -> tuple[str, ...]:
    figures = result.figures[name]
    asked = [_asked(target) for target in result.targets if target.yardstick == name]
    ratios = ("", "") if name == OURS else (result.cpu_ratio(name), result.rate_ratio(name))
    return (
        f"  {name}",
        f"{figures.rate:,.0f}",
        f"{figures.p50_ms:.2f}",
        f"{figures.p99_ms:.2f}",
        f"{figures.cpu_ms:.3f}",
        f"{figures.database_cpu_ms:.3f}" if figures.database_cpu_ms else "",
        f"{figures.busy:.2f}",
        f"{figures.load_busy:.2f}",
        *(f"{ratio:.2f}" if isinstance(ratio, float) else ratio for ratio in ratios),
        ", ".join(asked),
    )


def _asked(target: Target) -> str:
    return f"wish {target.at_least:g}" if target.is_wish else f"{target.at_least:g}"
