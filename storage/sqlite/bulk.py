"""Many units that only insert, by a few statements instead of one for every record.

A statement for each record costs several times what SQLite needs for the record, and the
interpreter lock is handed over for each. Failures are not attributed to units here: a taken key
rolls the whole transaction back. So SQLite does not have to store each page's earlier content for
a partial rollback."""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Iterator, Sequence

from storage.sqlite.tables import insert_statement
from storage.steps import InsertStep, PreparedUnit

_MIN_UNITS = 4
_MAX_ROWS = 256  # per statement; all sizes are powers of two, so that few statements are prepared

_Row = tuple[str, str, str]


class BulkRefused(Exception):
    """The units can't be inserted together: the caller has to roll the transaction back."""


def groups(units: Sequence[PreparedUnit]) -> Iterator[tuple[bool, Sequence[PreparedUnit]]]:
    """Divides the units, in their order, into groups, and yields each group with whether `insert`
    is to write all of it, because its units only insert and there are enough of them."""
    for is_inserting, group in itertools.groupby(units, _only_inserts):
        units_of_group = list(group)
        yield is_inserting and len(units_of_group) >= _MIN_UNITS, units_of_group


def _only_inserts(unit: PreparedUnit) -> bool:
    return all(isinstance(step, InsertStep) for step in unit.steps)


def insert(connection: sqlite3.Connection, units: Sequence[PreparedUnit]) -> None:
    """Inserts the records of the units, which only insert, in the open transaction of the
    connection.

    Raises BulkRefused when a key is taken or a unit can't be written, sqlite3.Error.
    """
    rows: dict[str, list[_Row]] = {}
    for unit in units:
        for step in unit.steps:
            assert isinstance(step, InsertStep)  # noqa: S101 - for mypy
            row = (step.id, step.document.decode(), unit.unit.id)
            rows.setdefault(step.table.name, []).append(row)
    try:
        for table, table_rows in rows.items():
            _insert(connection, table, table_rows)
    except sqlite3.IntegrityError as error:
        raise BulkRefused from error
    except sqlite3.Error:
        raise
    except Exception as error:  # an error of one unit must not fail the others
        raise BulkRefused from error


def _insert(connection: sqlite3.Connection, table: str, rows: list[_Row]) -> None:
    start = 0
    while start < len(rows):
        size = 1 << (min(len(rows) - start, _MAX_ROWS).bit_length() - 1)
        values = list(itertools.chain.from_iterable(rows[start : start + size]))
        connection.execute(insert_statement(table, size), values)
        start += size
