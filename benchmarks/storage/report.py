"""The results as a table for people, and as JSON for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from benchmarks.storage.rounds import Figures, Result
from benchmarks.tables import aligned

_HEAD = ("", "in flight", "operations/s", "p50 ms", "p99 ms", "CPU µs", "ratio", "asked")


def table(back_end: str, results: Sequence[Result]) -> str:
    """Returns two lines for each comparison: the yardstick, and the store with the ratio of the
    rates."""
    rows: list[tuple[str, ...]] = [_HEAD]
    for result in results:
        rows.append((result.name, *[""] * 7))
        rows.append((f"  yardstick: {result.yardstick.work}", *_cells(result.yardstick), "", ""))
        asked = f"{result.target.at_least:.2f}" if result.target else ""
        ratio = f"{result.ratio:.2f}"
        rows.append((f"  {back_end}: {result.ours.work}", *_cells(result.ours), ratio, asked))
    return aligned(rows)


def _cells(figures: Figures) -> tuple[str, ...]:
    return (
        str(figures.in_flight or "blocks"),
        f"{figures.rate:,.0f}",
        f"{figures.p50_ms:.3f}",
        f"{figures.p99_ms:.3f}",
        f"{figures.cpu_us:.1f}",
    )


def document(conditions: Mapping[str, Any], results: Mapping[str, Sequence[Result]]) -> bytes:
    """Returns all results, with the ratios of single rounds."""
    return msgspec.json.format(
        msgspec.json.encode({"conditions": conditions, "results": results}), indent=2
    )
