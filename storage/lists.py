"""Which declared list answers a `find`, and in which order it pages."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from storage.base import Collection, StartsWith, Undeclared, Value, Where


class Plan(Struct, frozen=True):
    """How to page: equality fields, the field to order by (`id` alone when None), a prefix.

    `is_unique`: the order field is a unique key, so that no tie-breaker is needed.
    """

    equal: dict[str, Value]
    order: str | None
    prefix: str | None = None
    is_unique: bool = False


def plan(collection: Collection[Any], where: Where | None, order: str | None) -> Plan:
    """The declared list that answers, or Undeclared."""
    where = where or {}
    prefixed = [name for name, value in where.items() if isinstance(value, StartsWith)]
    equal = {n: v for n, v in where.items() if not isinstance(v, StartsWith)}
    if len(prefixed) > 1 or (prefixed and order not in (None, prefixed[0])):
        raise Undeclared(f"{collection.name}: a prefix match orders by its own field")
    prefix = None
    if prefixed:
        order = prefixed[0]
        prefix = where[order].prefix  # type: ignore[union-attr]
    if not _is_declared(collection, equal, order):
        raise Undeclared(f"{collection.name} declares no list {sorted(equal)} by {order or 'id'}")
    return Plan(equal, order, prefix, not equal and order in collection.unique)


def plan_count(collection: Collection[Any], where: Where | None) -> Plan:
    """Like `plan`, for a count: a prefix of a declared list is enough."""
    where = where or {}
    if any(isinstance(value, StartsWith) for value in where.values()):
        return plan(collection, where, None)
    names = set(where)
    indexes = [*collection.lists, *((name,) for name in collection.unique)]
    if names and not any(set(fields[: len(names)]) == names for fields in indexes):
        raise Undeclared(f"{collection.name} declares no list that begins with {sorted(names)}")
    return Plan(dict(where), None)  # type: ignore[arg-type]


def _is_declared(collection: Collection[Any], equal: dict[str, Value], order: str | None) -> bool:
    names = set(equal)
    indexes = [*collection.lists, *((name,) for name in collection.unique)]
    for fields in indexes:
        if order is None and set(fields) == names:
            return True
        if order is not None and len(fields) > len(names) and fields[len(names)] == order:
            if set(fields[: len(names)]) == names:
                return True
    return order is None and not names
