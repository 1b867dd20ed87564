"""Chooses the list of a collection (`Collection.lists`) that answers most filters of a search; the
other filters are checked for each record that is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from types import NoneType
from typing import Any, Final, Literal, NamedTuple, get_args, get_type_hints

from msgspec import Struct

from idp.foundation.texts.text_folding import folded, normalized
from storage import Collection, Cursor, Record, StartsWith, Value, Where
from storage.lists import value_at

# Ranks of the conditions that a list answers: an equal field before a prefix, and both before the
# organization.
_EQUAL: Final = 8
_PREFIX: Final = 4
_ORGANIZATION: Final = 1


class Filter(Struct, frozen=True, kw_only=True):
    """A condition on the field of a record at the dotted `path`: `how` is `is` (it equals
    `value`), `starts` (it begins with it) or `in` (it is one of several values).

    Texts (`is_text`) are compared in their normal form (`normalized`), and with `folds` without
    regard to case. `key` names the field of the record that holds the text in this folded form, by
    which a declared list may find the record.
    """

    path: str
    value: Value | list[str]
    how: Literal["is", "starts", "in"] = "is"
    is_text: bool = False
    folds: bool = False
    key: str | None = None

    def passes(self, record: Record) -> bool:
        """Returns whether the record meets the condition."""
        actual: Any = value_at(record, self.path)
        if self.how == "in":
            return isinstance(self.value, list) and actual in self.value
        if not self.is_text or not isinstance(actual, str):
            return bool(actual == self.value)
        expected, text = self._form(str(self.value)), self._form(actual)
        return text.startswith(expected) if self.how == "starts" else text == expected

    def _form(self, text: str) -> str:
        return folded(text) if self.folds else normalized(text)


class ReadPlan(Struct, frozen=True, kw_only=True):
    """How to read the records that a search may find: those of a declared list that meet `where`,
    in the order of the field `order`, or those with the ids in `ids`. `remaining_filters` are the
    filters that the caller must check for each record that is read."""

    where: Where = {}
    order: str | None = None
    ids: Sequence[str] | None = None
    remaining_filters: Sequence[Filter] = ()

    def cursor(self, record: Record) -> Cursor:
        """Returns the position of a record in the list that the plan reads, from which reading can
        continue."""
        return value_at(record, self.order) if self.order else None, record.id

    def passes(self, record: Record) -> bool:
        """Returns whether the record meets all filters in `remaining_filters`."""
        return all(each.passes(record) for each in self.remaining_filters)


def read_plans(
    collection: Collection[Any],
    filters: Sequence[Filter],
    organizations: Sequence[str] | None,
    org_path: str = "org_id",
    order: str | None = None,
) -> list[ReadPlan]:
    """Returns plans that together find all records which meet the filters and belong to these
    organizations (None: to any); the caller carries them out one after the other.

    `org_path` is the field that holds the id of the organization. `order` is the field in whose
    order the records of each organization are to be found.
    """
    if organizations is not None and org_path == "id":
        by_id = Filter(path="id", how="in", value=list(organizations))
        return [_plan(collection, [*filters, by_id], order)]
    if organizations is None:
        return [_plan(collection, filters, order)]
    organization_filters = (Filter(path=org_path, value=org_id) for org_id in organizations)
    return [
        _plan(collection, [by_organization, *filters], order, org_path)
        for by_organization in organization_filters
    ]


class _Candidate(NamedTuple):
    rank: int
    plan: ReadPlan


def _plan(
    collection: Collection[Any],
    filters: Sequence[Filter],
    order: str | None,
    org_path: str | None = None,
) -> ReadPlan:
    by_id = [each for each in filters if each.path == "id" and each.how == "in"]
    if by_id:
        ids = frozenset.intersection(*(frozenset(_ids(each)) for each in by_id))
        return ReadPlan(
            ids=sorted(ids), remaining_filters=[each for each in filters if each not in by_id]
        )
    candidates = [
        candidate
        for fields in _lists(collection)
        if (candidate := _candidate(collection, fields, filters, order, org_path))
    ]
    if not candidates:
        return ReadPlan(remaining_filters=list(filters))
    return max(candidates, key=lambda each: each.rank).plan


def _lists(collection: Collection[Any]) -> Iterator[tuple[str, ...]]:
    """Yields the declared lists of a collection, the fastest first: of candidates with the same
    rank, the first is chosen."""
    yield from ((name,) for name in collection.unique)
    yield from collection.lists
    yield from collection.narrowed


def _ids(ids_filter: Filter) -> list[str]:
    return ids_filter.value if isinstance(ids_filter.value, list) else []


def _candidate(
    collection: Collection[Any],
    fields: tuple[str, ...],
    filters: Sequence[Filter],
    order: str | None,
    org_path: str | None,
) -> _Candidate | None:
    """Returns the plan that reads a list, or None if the list cannot answer. Its rank is higher
    the more filters it answers.

    Within an organization, the list must begin with the organization or name one record, so that
    other organizations' records are neither read nor counted.
    """
    where: dict[str, Any] = {}
    rank, unanswered = 0, list(filters)
    for field in fields:
        binding = next((each for each in filters if _binds(each, field)), None)
        if binding is None:
            break
        where[field] = folded(str(binding.value)) if binding.is_text else binding.value
        rank += _ORGANIZATION if field == org_path else _EQUAL
        # The list compares folded texts, so a case-sensitive filter is checked for each record,
        # too.
        if not binding.is_text or binding.folds:
            unanswered.remove(binding)
    if len(where) == len(fields):
        order_field = None
    else:
        order_field = fields[len(where)]
        rank += _bind_prefix(order_field, where, filters, unanswered)
    is_unique = order_field is None and fields[0] in collection.unique
    if org_path is not None and fields[0] != org_path and not is_unique:
        return None
    # A list in the order of a nullable field omits the records without a value.
    if (
        order_field is not None
        and order_field not in where
        and _is_nullable(collection, order_field)
    ):
        return None
    if order is not None and order_field != order and not is_unique:
        return None
    return _Candidate(rank, ReadPlan(where=where, order=order_field, remaining_filters=unanswered))


def _binds(condition: Filter, field: str) -> bool:
    return condition.how == "is" and field == (
        condition.key if condition.is_text else condition.path
    )


def _bind_prefix(
    field: str, where: dict[str, Any], filters: Sequence[Filter], unanswered: list[Filter]
) -> int:
    for each in filters:
        if each.how == "starts" and each.key == field:
            where[field] = StartsWith(folded(str(each.value)))
            if each.folds:
                unanswered.remove(each)
            return _PREFIX
    return 0


def _is_nullable(collection: Collection[Any], field: str) -> bool:
    """Returns whether the field can be without a value, so that a list in its order would omit
    records."""
    return "." in field or NoneType in get_args(_hints(collection)[field])


@cache
def _hints(collection: Collection[Any]) -> Mapping[str, Any]:
    return get_type_hints(collection.record)
