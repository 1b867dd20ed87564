"""The SQL of finds, counts and scans. There are few shapes, so their texts are cached."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from functools import lru_cache
from typing import Any, Final, NamedTuple

import msgspec

from storage.base import Cursor, Value
from storage.codec import encode_value, instant_text
from storage.lists import EachPlan, Plan, after_prefix
from storage.sqlite.tables import expression, statement

Condition = tuple[str, str, Any]  # field, operator, value
Order = tuple[str, ...]
_Shape = tuple[tuple[str, str], ...]
Query = tuple[str, list[Any]]


class ScanPlan(NamedTuple):
    """How the records of a list are found: by all of its conditions through an index, or without
    those on the fields `without`, which then filter the records that were found.

    With `max_records`, at most that many records are read before they are filtered.
    """

    without: tuple[str, ...] = ()
    max_records: int | None = None

    def index_conditions(self, conditions: list[Condition]) -> list[Condition]:
        """Returns those of `conditions` by which records are found through the index: all but
        those on the fields `without`."""
        return [condition for condition in conditions if condition[0] not in self.without]


BY_INDEX: Final = ScanPlan()


def stored_value(value: object) -> Any:
    """Returns the value in the form that it has in stored documents. Raises InvalidValue."""
    return encode_value(value, instant_text)


def _bound(value: Value) -> Any:
    return instant_text(value) if isinstance(value, datetime) else value


def matching(equal: dict[str, Value], now: str | None) -> list[Condition]:
    """Returns the conditions that fields equal these values (None matches an absent field), and
    that records have not expired by `now`, if that is given.
    """
    conditions = [(field, "IS", _bound(value)) for field, value in equal.items()]
    return conditions + ([("expires_at", ">", now)] if now else [])


def steps(
    plan: Plan, descending: bool, after: Cursor | None
) -> Iterator[tuple[list[Condition], Order]]:
    """Yields the ranges of the index that have the records after a cursor, in order: for each
    its conditions, and the fields by which it is sorted.

    After a cursor come the records with the same value of the order field, then all others. SQLite
    can't use an index on expressions for a row value, so one combined condition would read the
    list from its start.
    """
    beyond = "<" if descending else ">"
    low, high = _prefix_bounds(plan)
    if after is None:
        yield low + high, plan.fields
        return
    if plan.order is None:
        yield [("id", beyond, after[1])], plan.fields
        return
    value = stored_value(after[0])
    if not plan.is_unique:
        yield [(plan.order, "IS", value), ("id", beyond, after[1])], ("id",)
    yield [(plan.order, beyond, value), *(low if descending else high)], plan.fields


def _prefix_bounds(plan: Plan) -> tuple[list[Condition], list[Condition]]:
    if plan.order is None or plan.prefix is None:
        return [], []
    end = after_prefix(stored_value(plan.prefix))
    return [(plan.order, ">=", plan.prefix)], [(plan.order, "<", end)] if end else []


def page(
    table: str,
    conditions: list[Condition],
    order: Order,
    descending: bool,
    scan_plan: ScanPlan = BY_INDEX,
) -> Query:
    if scan_plan.max_records is None:
        sql = _page(table, _shape(conditions), order, descending, scan_plan.without)
        return sql, _values(conditions)
    indexed = scan_plan.index_conditions(conditions)
    filtering = [condition for condition in conditions if condition[0] in scan_plan.without]
    sql = _page_of_limited(table, _shape(indexed), _shape(filtering), order, descending)
    return sql, [*_values(indexed), scan_plan.max_records, *_values(filtering)]


def count(table: str, conditions: list[Condition], scan_plan: ScanPlan = BY_INDEX) -> Query:
    """Returns the query that counts the records which fulfil the conditions.

    Its last placeholder is the number up to which it counts: the caller appends that to the
    returned values. Of the scan plan only `without` is used.
    """
    return _count(table, _shape(conditions), scan_plan.without), _values(conditions)


def scan(table: str, conditions: list[Condition]) -> Query:
    return _scan(table, _shape(conditions)), _values(conditions)


def _values(conditions: list[Condition]) -> list[Any]:
    return [value for _, _, value in conditions]


def _shape(conditions: list[Condition]) -> _Shape:
    return tuple((field, operator) for field, operator, _ in conditions)


@lru_cache(maxsize=1024)
def _page(
    table: str, shape: _Shape, order: Order, descending: bool, without: tuple[str, ...] = ()
) -> str:
    ordering = ", ".join(
        _term(field, without) + (" DESC" if descending else "") for field in order
    )
    template = "SELECT doc FROM {table} WHERE {where} ORDER BY {by} LIMIT ?"
    return statement(template, table, where=_where(shape, without), by=ordering)


@lru_cache(maxsize=1024)
def _page_of_limited(
    table: str, indexed: _Shape, filtering: _Shape, order: Order, descending: bool
) -> str:
    # The limited subquery is read in its own order.
    template = "SELECT doc FROM ({some}) WHERE {where} LIMIT ?"
    page_sql = _page(table, indexed, order, descending)
    return statement(template, table, some=page_sql, where=_where(filtering))


@lru_cache(maxsize=1024)
def _count(table: str, shape: _Shape, without: tuple[str, ...]) -> str:
    template = "SELECT count(*) FROM (SELECT 1 FROM {table} WHERE {where} LIMIT ?)"
    return statement(template, table, where=_where(shape, without))


@lru_cache(maxsize=1024)
def _scan(table: str, shape: _Shape) -> str:
    # Rows that don't match are counted too, so that every slice is a bounded amount of work.
    template = """SELECT id, CASE WHEN {where} THEN doc END FROM {table}
        WHERE id > ? ORDER BY id LIMIT ?"""
    return statement(template, table, where=_where(shape))


@lru_cache(maxsize=1024)
def get_many(tables: tuple[str, ...]) -> str:
    """Returns a statement that reads one record by its id from each of `tables`, in which a table
    may occur again. Each row has the position in `tables`, from 0, and the document."""
    template = "SELECT {position}, doc FROM {table} WHERE id = ?"
    selects = [
        statement(template, table, position=str(position)) for position, table in enumerate(tables)
    ]
    return " UNION ALL ".join(selects)


def by_values(table: str, plan: EachPlan, now: str | None) -> Query:
    """Returns the query for the records that have one of the plan's values, in the plan's order
    for each value. With `now`, expired records are left out."""
    values: list[Any] = [msgspec.json.encode([_bound(value) for value in plan.requested]).decode()]
    values += [now] if now else []
    values += [] if plan.is_unique else [plan.limit]
    return _by_values(table, plan.field, plan.order, now is not None), values


@lru_cache(maxsize=1024)
def _by_values(table: str, field: str, order: Order, expires: bool) -> str:
    # A cross join keeps its order of tables: the reverse would read the whole table.
    joined = """WITH requested(value, place) AS (SELECT value, key FROM json_each(?))
        SELECT doc FROM requested CROSS JOIN {table} WHERE """
    condition = f"{expression(field)} IS requested.value"
    if expires:
        condition += f" AND {expression('expires_at')} > ?"
    if not order:
        return statement(joined + condition, table)
    ordering = ", ".join(expression(name) for name in order)
    first = "SELECT rowid FROM {table} WHERE {having} ORDER BY {by} LIMIT ?"
    limited = joined + f"{{table}}.rowid IN ({first}) ORDER BY place, {{by}}"
    return statement(limited, table, having=condition, by=ordering)


def _where(shape: _Shape, without: tuple[str, ...] = ()) -> str:
    return " AND ".join(f"{_term(field, without)} {op} ?" for field, op in shape) or "TRUE"


def _term(field: str, without: tuple[str, ...]) -> str:
    # SQLite uses no index for a term with a plus before it.
    return f"+{expression(field)}" if field in without else expression(field)
