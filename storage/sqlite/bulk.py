"""Units that only insert, many at once: a few statements, instead of one for every record.

A statement of its own costs several times what SQLite does for one record, and the interpreter's
lock is handed over for each. Nothing is told apart here: of units of which any meets a taken key,
none is stored, and each goes its own way.
"""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Iterator, Sequence

from storage.sqlite.tables import inserting
from storage.steps import InsertStep, Prepared

MOST_UNITS = 256  # that are stored anew one by one when a key of one is taken
FEWEST_UNITS = 4
_MOST_ROWS = 256  # of one statement; a power of two, as all of them, so that few are prepared

_Row = tuple[str, str, str]


def groups(units: Sequence[Prepared]) -> Iterator[Sequence[Prepared]]:
    """The units in their order: alone, or with others to be inserted together."""
    for is_inserting, following in itertools.groupby(units, _only_inserts):
        size = MOST_UNITS if is_inserting else 1
        run = list(following)
        for start in range(0, len(run), size):
            yield run[start : start + size]


def _only_inserts(unit: Prepared) -> bool:
    return all(isinstance(step, InsertStep) for step in unit.steps)


def insert(connection: sqlite3.Connection, units: Sequence[Prepared]) -> None:
    """Insert what the units insert. An IntegrityError leaves some of it behind, to be undone."""
    rows: dict[str, list[_Row]] = {}
    for unit in units:
        for step in unit.steps:
            assert isinstance(step, InsertStep)  # noqa: S101 - told to mypy
            row = (step.id, step.document.decode(), unit.unit.id)
            rows.setdefault(step.table.name, []).append(row)
    for table, each in rows.items():
        _insert(connection, table, each)


def _insert(connection: sqlite3.Connection, table: str, rows: list[_Row]) -> None:
    start = 0
    while start < len(rows):
        size = 1 << (min(len(rows) - start, _MOST_ROWS).bit_length() - 1)
        values = list(itertools.chain.from_iterable(rows[start : start + size]))
        connection.execute(inserting(table, size), values)
        start += size
