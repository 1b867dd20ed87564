"""Updates of one unit that set the same fields under the same conditions, as one statement.

The server plans a statement of a transaction before it runs it, which takes longer than the change
of one document. So updates that differ in ids and values alone become one statement over all their
records, which takes each record's values from lists by the index of its id.
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
_MAX_UPDATES: Final = 1000
# So that the lists of a statement remain far below the largest size of a document.
_MAX_TEXT_CHARACTERS: Final = 1000
_SCALARS: Final = (int, bool, datetime)


class Split(Struct, frozen=True):
    """Updates as `statements` for the server's update command, each with the index of its first
    update in `first_indexes`, and the indexes of all `other_indexes`."""

    statements: list[Document]
    first_indexes: list[int]
    other_indexes: list[int]


def split(operations: Sequence[WriteOperation]) -> Split:
    """Returns which of these updates, on different records, become one statement: those that are
    similar, from eight on."""
    groups = _groups(operations)
    grouped = set(itertools.chain(*groups))
    return Split(
        [_statement([operations[index] for index in group]) for group in groups],
        [group[0] for group in groups],
        [index for index in range(len(operations)) if index not in grouped],
    )


def _groups(operations: Sequence[WriteOperation]) -> list[list[int]]:
    by_shape: dict[object, list[int]] = {}
    for index, operation in enumerate(operations):
        shape = _shape(operation)
        if shape is not None:
            by_shape.setdefault(shape, []).append(index)
    chunks = [
        indexes[start : start + _MAX_UPDATES]
        for indexes in by_shape.values()
        for start in range(0, len(indexes), _MAX_UPDATES)
    ]
    return [chunk for chunk in chunks if len(chunk) >= WORTH_A_STATEMENT]


def _statement(operations: Sequence[WriteOperation]) -> Document:
    """Returns the statement with the effect of these updates of one group. It finds as many
    records as they find together."""
    first = operations[0]
    conditions = {name: value for name, value in first.filter.items() if name != "_id"}
    ids = [operation.filter["_id"] for operation in operations]
    fields = list(_set_fields(first))
    lists = {
        f"v{n}": [_set_fields(operation)[name] for operation in operations]
        for n, name in enumerate(fields)
    }
    values: Document = {
        name: {"$arrayElemAt": [f"$$v{n}", "$$place"]} for n, name in enumerate(fields)
    }
    marks = {"$concatArrays": [{"$ifNull": [f"${MARKS}", []]}, ["$$unit"]]}
    values[MARKS] = {"$slice": [marks, -MAX_MARKS]}
    index = {"$indexOfArray": ["$$ids", "$_id"]}
    changed = {"$mergeObjects": ["$$ROOT", values]}
    return {
        "q": {"_id": {"$in": ids}, **conditions},
        "u": [{"$replaceWith": {"$let": {"vars": {"place": index}, "in": changed}}}],
        "c": {"ids": ids, "unit": first.unit.id, **lists},
        "multi": True,
        "hint": "_id_",
    }


def _set_fields(operation: WriteOperation) -> dict[str, Any]:
    fields: dict[str, Any] = operation.change["$set"]
    return fields


def _shape(operation: WriteOperation) -> object:
    """Returns the key that the updates of a group have in common; None for an update that is sent
    alone.

    Unique keys may have to be set in the order of the updates; other paths than top-level fields,
    and values other than short scalars, are rare.
    """
    if operation.change.keys() != {"$set", "$push"}:
        return None
    fields = _set_fields(operation)
    if not fields.keys().isdisjoint(operation.write.collection.unique):
        return None
    if not all(map(_is_short, fields.values())) or any("." in name for name in fields):
        return None
    expect = getattr(operation.write, "expect", {})
    return (operation.unit.id, tuple(fields), tuple(expect.items()))


def _is_short(value: object) -> bool:
    return (
        len(value) <= _MAX_TEXT_CHARACTERS
        if isinstance(value, str)
        else isinstance(value, _SCALARS)
    )
