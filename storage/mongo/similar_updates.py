"""Updates of one unit that set the same fields under the same conditions, as one statement.

The server plans a statement of a transaction before it runs it, which takes longer than the change
of one document. So updates that differ in ids and values alone become one statement over all their
records, which takes each record's values from lists by the place of its id.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from msgspec import Struct

from storage.base import MAX_MARKS
from storage.mongo.documents import MARKS, Document, WriteOperation

WORTH_A_STATEMENT: Final = 8
_AT_MOST: Final = 1000
# So that the lists of a statement stay far below the largest size of a document.
_SHORT: Final = 1000
_SCALARS: Final = (int, bool, datetime)


class Split(Struct, frozen=True):
    """Updates as `statements` for the server's update command, each with the place of its first
    update in `firsts`, and the places of all `others`."""

    statements: list[Document]
    firsts: list[int]
    others: list[int]


def split(operations: Sequence[WriteOperation]) -> Split:
    """Returns which of these updates, on different records, become one statement: those that are
    similar, from eight on."""
    groups = _groups(operations)
    grouped = set(itertools.chain(*groups))
    return Split(
        [_statement([operations[place] for place in group]) for group in groups],
        [group[0] for group in groups],
        [place for place in range(len(operations)) if place not in grouped],
    )


def _groups(operations: Sequence[WriteOperation]) -> list[list[int]]:
    by_shape: dict[object, list[int]] = {}
    for place, operation in enumerate(operations):
        shape = _shape(operation)
        if shape is not None:
            by_shape.setdefault(shape, []).append(place)
    chunks = [
        places[start : start + _AT_MOST]
        for places in by_shape.values()
        for start in range(0, len(places), _AT_MOST)
    ]
    return [chunk for chunk in chunks if len(chunk) >= WORTH_A_STATEMENT]


def _statement(operations: Sequence[WriteOperation]) -> Document:
    """Returns the statement that does what these updates of one group do. It finds as many records
    as they find together."""
    first = operations[0]
    conditions = {name: value for name, value in first.filter.items() if name != "_id"}
    ids = [operation.filter["_id"] for operation in operations]
    fields = list(_set(first))
    lists = {f"v{n}": [_set(each)[name] for each in operations] for n, name in enumerate(fields)}
    values: Document = {
        name: {"$arrayElemAt": [f"$$v{n}", "$$place"]} for n, name in enumerate(fields)
    }
    marks = {"$concatArrays": [{"$ifNull": [f"${MARKS}", []]}, ["$$unit"]]}
    values[MARKS] = {"$slice": [marks, -MAX_MARKS]}
    place = {"$indexOfArray": ["$$ids", "$_id"]}
    changed = {"$mergeObjects": ["$$ROOT", values]}
    return {
        "q": {"_id": {"$in": ids}, **conditions},
        "u": [{"$replaceWith": {"$let": {"vars": {"place": place}, "in": changed}}}],
        "c": {"ids": ids, "unit": first.unit.id, **lists},
        "multi": True,
        "hint": "_id_",
    }


def _set(operation: WriteOperation) -> dict[str, Any]:
    fields: dict[str, Any] = operation.change["$set"]
    return fields


def _shape(operation: WriteOperation) -> object:
    """Returns what the updates of a group have in common; None for one that is sent by itself.

    Unique keys may have to be set in the order of the updates; other paths than top-level fields,
    and values other than short scalars, are rare.
    """
    if operation.change.keys() != {"$set", "$push"}:
        return None
    fields = _set(operation)
    if not fields.keys().isdisjoint(operation.write.collection.unique):
        return None
    if not all(map(_is_short, fields.values())) or any("." in name for name in fields):
        return None
    expect = getattr(operation.write, "expect", {})
    return (operation.unit.id, tuple(fields), tuple(expect.items()))


def _is_short(value: object) -> bool:
    return len(value) <= _SHORT if isinstance(value, str) else isinstance(value, _SCALARS)
