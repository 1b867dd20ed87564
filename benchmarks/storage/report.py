"""The results as a table for people and as JSON for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from benchmarks.storage.rounds import Figures, Result

_HEAD = ("", "in flight", "operations/s", "p50 ms", "p99 ms", "CPU µs", "ratio", "asked")


def table(back_end: str, results: Sequence[Result]) -> str:
    """Two lines for each comparison: the yardstick, and the store with the ratio of the rates."""
    rows: list[tuple[str, ...]] = [_HEAD]
    for result in results:
        rows.append((result.name, *[""] * 7))
        rows.append((f"  yardstick: {result.yardstick.work}", *_cells(result.yardstick), "", ""))
        asked = f"{result.target.at_least:.2f}" if result.target else ""
        ratio = f"{result.ratio:.2f}"
        rows.append((f"  {back_end}: {result.ours.work}", *_cells(result.ours), ratio, asked))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(_line(row, widths) for row in rows)


def _cells(figures: Figures) -> tuple[str, ...]:
    return (
        str(figures.in_flight or "blocks"),
        f"{figures.rate:,.0f}",
        f"{figures.p50_ms:.3f}",
        f"{figures.p99_ms:.3f}",
        f"{figures.cpu_us:.1f}",
    )


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    name, *cells = [
        cell.ljust(width) if place == 0 else cell.rjust(width)
        for place, (cell, width) in enumerate(zip(row, widths, strict=True))
    ]
    return "  ".join([name, *cells]).rstrip()


def document(conditions: Mapping[str, Any], results: Mapping[str, Sequence[Result]]) -> bytes:
    """Everything that was measured, the ratios of single rounds included."""
    return msgspec.json.format(
        msgspec.json.encode({"conditions": conditions, "results": results}), indent=2
    )
