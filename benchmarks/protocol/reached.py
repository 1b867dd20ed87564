"""The CPU ratios that are reached: the table in the README, and how a run compares with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from benchmarks.protocol.results import Result
from benchmarks.protocol.scenarios import BARE, IN_MEMORY, OVER_MONGODB, OVER_SQLITE

TOLERANCE: Final = 0.1  # by which a ratio may be lower than the one that was reached
COLUMNS: Final = (
    ("sqlite", BARE),
    ("sqlite", IN_MEMORY),
    ("sqlite", OVER_SQLITE),
    ("mongodb", BARE),
    ("mongodb", OVER_MONGODB),
)
_README: Final = Path(__file__).parents[1] / "README.md"
_BEGIN: Final = "<!-- reached: begin"
_END: Final = "<!-- reached: end"

Ratios = dict[tuple[str, str, str], float]  # by store, scenario and yardstick


def ratios(results: Sequence[Result]) -> Ratios:
    """Returns the ratios of one process that the table has."""
    return {
        (result.store, result.scenario, yardstick): result.cpu_ratio(yardstick)
        for result in results
        for yardstick in result.figures
        if result.processes == 1 and (result.store, yardstick) in COLUMNS
    }


def table(results: Sequence[Result]) -> str:
    """Returns the ratios in Markdown: a row for each scenario, a column for each yardstick at a
    store."""
    found = ratios(results)
    head = ["CPU ratio", *(f"{store}: {yardstick}" for store, yardstick in COLUMNS)]
    lines = [head, ["---"] * len(head)]
    for scenario in dict.fromkeys(result.scenario for result in results):
        cells = [found.get((store, scenario, yardstick)) for store, yardstick in COLUMNS]
        lines.append([scenario, *(f"{cell:.2f}" if cell else "" for cell in cells)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def read() -> Ratios:
    """Returns the ratios of the README's table."""
    text = _README.read_text("utf-8").partition(_BEGIN)[2].partition(_END)[0]
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    _, _, *rows = [[cell.strip() for cell in line[1:-1].split("|")] for line in lines]
    return {
        (store, scenario, yardstick): float(cell)
        for scenario, *cells in rows
        for (store, yardstick), cell in zip(COLUMNS, cells, strict=True)
        if cell
    }


def slower(results: Sequence[Result]) -> Iterator[str]:
    """Returns a sentence for each ratio that is lower than the table's by more than the tolerance,
    or that only one of both has."""
    stores = {result.store for result in results}
    found, expected = ratios(results), {key: r for key, r in read().items() if key[0] in stores}
    for key in dict.fromkeys([*found, *expected]):
        name = " ".join(key)
        if key not in expected or key not in found:
            yield f"{name}: not {'measured' if key in expected else 'in the table'}"
        elif found[key] < expected[key] * (1 - TOLERANCE):
            yield f"{name}: {found[key]:.2f}, reached {expected[key]:.2f}"
