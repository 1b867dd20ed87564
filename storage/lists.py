"""The choice of the declared list that answers a `find`, its order, and the end of a page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Final

from msgspec import Struct

from storage.base import (
    MAX_VALUES,
    Collection,
    Cursor,
    InvalidValue,
    Page,
    R,
    Record,
    StartsWith,
    Undeclared,
    Value,
    Where,
)
from storage.codec import check_expect, check_values, encode_value, truncated

_HIGHEST: Final = chr(0x10FFFF)


class Plan(Struct, frozen=True):
    """How a page is read: the fields to match, the field to order by (None: only the id), and the
    prefix of that field's values.

    `is_unique`: the order field is a unique key, so that no tie-breaker is needed. `narrowed`: the
    field to match that the index of the list does not have.
    """

    equal: dict[str, Value]
    order: str | None
    prefix: str | None = None
    is_unique: bool = False
    narrowed: str | None = None

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields to sort by, with the id as the tie-breaker where one is needed."""
        if self.order is None or self.order == "id":
            return ("id",)
        return (self.order,) if self.is_unique else (self.order, "id")

    def cursor(self, record: Record) -> Cursor:
        """Returns the cursor of the records after this one: the value of the order field, and the
        id.
        """
        return value_at(record, self.order) if self.order else None, record.id

    def page(self, records: Sequence[R], limit: int) -> Page[R]:
        """Returns a page of at most `limit` records; if `records` has one more, another page
        follows."""
        on_page = list(records[:limit])
        return Page(on_page, self.cursor(on_page[-1]) if len(records) > limit else None)


def plan(
    collection: Collection[Any], where: Where | None, order: str | None, limit: int = 1
) -> Plan:
    """Returns the plan for the declared list that answers the query. Raises Undeclared,
    InvalidValue.
    """
    if limit < 1:
        raise InvalidValue("a page has at least one record")
    where = where or {}
    prefixed = [name for name, value in where.items() if isinstance(value, StartsWith)]
    equal = _equal(
        collection, {name: value for name, value in where.items() if name not in prefixed}
    )
    if len(prefixed) > 1 or (prefixed and order not in (None, prefixed[0])):
        raise Undeclared(f"{collection.name}: a prefix match orders by its own field")
    prefix = None
    if prefixed:
        order = prefixed[0]
        prefix = where[order].prefix  # type: ignore[union-attr]
    if not equal and order is None:
        return Plan(equal, order)
    narrowed = _narrowed(collection, frozenset(equal), order)
    return Plan(equal, order, prefix, not equal and order in collection.unique, narrowed)


def plan_count(collection: Collection[Any], where: Where | None) -> Plan:
    """Returns the plan of a count, for which a prefix of a declared list is enough.

    Raises Undeclared, InvalidValue.
    """
    where = where or {}
    if any(isinstance(value, StartsWith) for value in where.values()):
        return plan(collection, where, None)
    narrowed = _narrowed(collection, frozenset(where), None, is_prefix=True) if where else None
    return Plan(_equal(collection, where), None, narrowed=narrowed)


class EachPlan(Struct, frozen=True):
    """How records are found by many values of `field`: at most `limit` records of each value, in
    the order of the fields `order`.

    `requested` maps each value, in the form in which it is stored, to the requested values that
    have this form.
    """

    field: str
    order: tuple[str, ...]
    limit: int
    requested: dict[Value, list[Value]]

    @property
    def is_unique(self) -> bool:
        """Whether at most one record has each value."""
        return not self.order

    def sort_key(self, record: Record) -> list[tuple[bool, Any]]:
        """Returns the sort key of a record among those of the same value; absent fields come
        first.
        """
        return [((value := value_at(record, name)) is not None, value) for name in self.order]

    def answer(self, records: Iterable[R]) -> dict[Value, list[R]]:
        """Returns the records by those requested values that they have, in the order of `records`;
        a value without records has no entry."""
        by_value: dict[Value, list[R]] = {}
        for record in records:
            for value in self.requested[value_at(record, self.field)]:
                by_value.setdefault(value, []).append(record)
        return by_value


def plan_each(
    collection: Collection[Any], field: str, values: Sequence[Value], limit: int
) -> EachPlan:
    """Returns the plan for finding records by many values. Raises Undeclared, InvalidValue."""
    check_each(values, limit)
    order = _order_each(collection, field)
    check_values(collection, field, values)
    requested: dict[Value, list[Value]] = {}
    for value in dict.fromkeys(values):
        try:
            requested.setdefault(encode_value(value, truncated), []).append(value)
        except InvalidValue:
            continue  # a value that can't be stored has no records
    return EachPlan(field, order, limit, requested)


def check_each(values: Sequence[Value], limit: int) -> None:
    """Raises InvalidValue if there are too many values, or `limit` is below 1."""
    if limit < 1 or len(values) > MAX_VALUES:
        raise InvalidValue(f"at least one record for each of at most {MAX_VALUES} values")


def _order_each(collection: Collection[Any], field: str) -> tuple[str, ...]:
    if field == "id" or field in collection.unique:
        return ()
    for fields in collection.lists:
        if fields[0] == field:
            return tuple(dict.fromkeys((*fields[1:], "id")))
    raise Undeclared(f"{collection.name} declares no list that begins with {field}")


def value_at(record: Any, path: str) -> Any:
    """Returns the value at a dotted path of a record, None where there is none."""
    for name in path.split("."):
        record = getattr(record, name, None)
    return record


def check_scan(collection: Collection[Any], where: Mapping[str, Value] | None) -> dict[str, Value]:
    """Checks the condition of a scan, and returns its values in the form that is stored.

    A scan matches top-level fields by equality; None or an empty condition matches every record.
    Raises InvalidValue.
    """
    where = where or {}
    for name, value in where.items():
        if "." in name or isinstance(value, StartsWith):
            raise InvalidValue(f"a scan matches top-level fields by equality, not {name!r}")
    return _equal(collection, where)


def _equal(collection: Collection[Any], where: Mapping[str, Any]) -> dict[str, Value]:
    """Returns the values to match, checked, with instants cut as in stored records."""
    check_expect(collection, where)
    return {path: encode_value(value, truncated) for path, value in where.items()}


def after_prefix(prefix: str) -> str | None:
    """Returns the least text that is greater than every text that begins with `prefix`; None if no
    text is."""
    shortened = prefix.rstrip(_HIGHEST)
    if not shortened:
        return None
    next_character = ord(shortened[-1]) + 1
    # Code points of surrogates are no text; the next one after U+D7FF is U+E000.
    return shortened[:-1] + chr(0xE000 if next_character == 0xD800 else next_character)


@cache
def _narrowed(
    collection: Collection[Any],
    names: frozenset[str],
    order: str | None,
    *,
    is_prefix: bool = False,
) -> str | None:
    """Returns the first field of a narrowed list if that list answers the query, None if another
    list answers it.

    The list is matched by these names and ordered by `order` (None: it has no further field, or
    with `is_prefix` any). Raises Undeclared when there is no such list.
    """
    indexed_lists = (*collection.lists, *((name,) for name in collection.unique))
    for fields in (*indexed_lists, *collection.narrowed):
        next_field = fields[len(names)] if len(fields) > len(names) else None
        if set(fields[: len(names)]) == names and (is_prefix or next_field == order):
            return None if fields in indexed_lists else fields[0]
    description = "that begins with {}" if is_prefix else f"{{}} by {order or 'id'}"
    raise Undeclared(f"{collection.name} declares no list {description.format(sorted(names))}")
