"""What was measured, judged, and shown as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from benchmarks.protocol.rounds import Figures
from benchmarks.protocol.scenarios import Target
from benchmarks.tables import aligned

OURS = "idp"
MAX_MEGABYTES = 100
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
    """A scenario at one place: the figures of the service and of its yardsticks."""

    store: str
    processes: int
    scenario: str
    figures: dict[str, Figures]
    targets: list[Target] = []

    def cpu_ratio(self, yardstick: str) -> float:
        """What an operation costs the yardstick, by what it costs the service."""
        return self.figures[yardstick].cpu_ms / self.figures[OURS].cpu_ms

    def rate_ratio(self, yardstick: str) -> float:
        """The service's operations a second, by those of the yardstick."""
        return self.figures[OURS].rate / self.figures[yardstick].rate


class Memory(Struct, frozen=True):
    """The memory of the process that had most, after so many requests to all of them."""

    store: str
    processes: int
    requests: int
    megabytes: float


def missed(results: Sequence[Result], memory: Sequence[Memory]) -> Iterator[str]:
    """A sentence for each target that is not reached."""
    for result in results:
        for target in result.targets:
            ratio = result.cpu_ratio(target.yardstick)
            if ratio < target.at_least:
                yield (
                    f"{result.scenario} on {result.store}: {ratio:.2f} of {target.yardstick},"
                    f" asked {target.at_least:.2f}"
                )
    for each in memory:
        if each.megabytes > MAX_MEGABYTES:
            yield (
                f"memory on {each.store} after {each.requests:,} requests:"
                f" {each.megabytes:.0f} MB, asked {MAX_MEGABYTES}"
            )


def table(results: Sequence[Result]) -> str:
    """A line for the service and each yardstick in every scenario of one place."""
    rows: list[tuple[str, ...]] = [_HEAD]
    for result in results:
        rows.append((result.scenario, *[""] * (len(_HEAD) - 1)))
        rows += [_row(result, name) for name in result.figures]
    return aligned(rows)


def _row(result: Result, name: str) -> tuple[str, ...]:
    figures = result.figures[name]
    asked = [f"{each.at_least:g}" for each in result.targets if each.yardstick == name]
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
        "".join(asked),
    )
