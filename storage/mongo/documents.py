"""Records as MongoDB documents: `_id` has the id; `_units` has the marks, the ids of the last
units that wrote the record. By them a repeated command recognizes that a unit is applied already.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

import bson
import msgspec
from bson.raw_bson import RawBSONDocument
from msgspec import Struct, structs

from storage import codec
from storage.base import (
    MAX_MARKS,
    Collection,
    Delete,
    Insert,
    InvalidValue,
    R,
    Unit,
    Update,
    Write,
)

MARKS: Final = "_units"
Document = dict[str, Any]


class WriteOperation(Struct, frozen=True):
    """One write in the form that the server takes. `change` is a document for an insert.

    `filter` finds the record only while the write may be applied to it, and has not been. An
    insert that `replaces` takes the place of an expired record, if there is one.
    """

    unit: Unit
    write: Write
    kind: str
    filter: Document
    change: Document | RawBSONDocument
    replaces: bool = False

    @property
    def name(self) -> str:
        return self.write.collection.name

    @property
    def is_conditional_delete(self) -> bool:
        return isinstance(self.write, Delete) and bool(self.write.expect)


def operations(unit: Unit, now: datetime) -> list[WriteOperation]:
    """Returns the encoded writes of a unit; `now` is the instant by which records have expired or
    not.

    Raises InvalidValue for values that can't be stored.
    """
    codec.check_unit(unit.writes)
    return [_operation(unit, write, now) for write in unit.writes]


def with_encoded_document(operation: WriteOperation) -> WriteOperation:
    """Returns an insert with its document as BSON bytes, which are sent unchanged; other
    operations as they are.
    """
    if operation.kind != "insert":
        return operation
    return structs.replace(operation, change=RawBSONDocument(bson.encode(operation.change)))


def inserted_bytes(operations: Sequence[WriteOperation]) -> float:
    """Returns the total size of these documents, or infinity where it is unknown or where they may
    replace others.
    """
    total = 0
    for operation in operations:
        if operation.replaces or not isinstance(operation.change, RawBSONDocument):
            return math.inf
        total += len(operation.change.raw)
    return total


def _operation(unit: Unit, write: Write, now: datetime) -> WriteOperation:
    if isinstance(write, Insert):
        document = _document(write, unit.id)
        replaced = {"_id": document["_id"], "expires_at": {"$lte": now}}
        expires = write.collection.expires
        return WriteOperation(unit, write, "insert", replaced, document, replaces=expires)
    if isinstance(write, Delete):
        # Without expectations, an expired record may be deleted, too.
        clauses = (
            [unexpired_filter(write.collection, now), *_expected(write)] if write.expect else []
        )
        return WriteOperation(unit, write, "delete", _filter(write.id, clauses), {})
    clauses = [
        {MARKS: {"$ne": unit.id}},
        unexpired_filter(write.collection, now),
        *_expected(write),
    ]
    return WriteOperation(
        unit, write, "update", _filter(write.id, clauses), _change(write, unit.id)
    )


def _document(write: Insert, unit_id: str) -> Document:
    document = codec.encode(write.record, codec.truncated)
    return {"_id": document.pop("id"), **document, MARKS: [unit_id]}


def _change(update: Update, unit_id: str) -> Document:
    change: Document = {}
    for path, value in codec.encode_values(update.set, codec.truncated).items():
        if value is None:
            change.setdefault("$unset", {})[path] = ""
        else:
            change.setdefault("$set", {})[path] = value
    if update.increment:
        change["$inc"] = {path: stored_value(by) for path, by in update.increment.items()}
    change["$push"] = {MARKS: {"$each": [unit_id], "$slice": -MAX_MARKS}}
    return change


def _filter(record_id: str, clauses: list[Document]) -> Document:
    """Returns the filter of the record with this id and all clauses, which may name the same
    field.
    """
    conditions: Document = {"_id": record_id}
    further_conditions = []
    for clause in clauses:
        if conditions.keys().isdisjoint(clause):
            conditions |= clause
        else:
            further_conditions.append(clause)
    return conditions | {"$and": further_conditions} if further_conditions else conditions


def _expected(write: Update | Delete) -> list[Document]:
    """Returns the expectations, and the condition that the parent of each dotted path is an
    object.
    """
    paths = [path for path, value in write.expect.items() if value is None]
    if isinstance(write, Update):
        paths += [*write.set, *write.increment]
    parents = {path.rpartition(".")[0]: {"$type": "object"} for path in paths if "." in path}
    expected = {stored_name(path): stored_value(value) for path, value in write.expect.items()}
    return [parents, expected]


def unexpired_filter(collection: Collection[Any], now: datetime) -> Document:
    """Returns the query filter by which only records are found that have not expired by `now`;
    empty for a collection whose records never expire."""
    return {"expires_at": {"$gt": now}} if collection.expires else {}


def stored_name(path: str) -> str:
    """Returns the name that a record's field has in stored documents: `_id` for `id`, else the
    same."""
    return "_id" if path == "id" else path


def stored_value(value: object) -> Any:
    return codec.encode_value(value, codec.truncated)


def is_storable(record_id: str) -> bool:
    """Returns whether a record could have this id; other ids are not queried.

    A lone surrogate would fail in the driver, and with it the command that other callers share.
    """
    if (
        type(record_id) is str
        and 0 < len(record_id) <= 64
        and record_id.isascii()
        and "\0" not in record_id
    ):
        return True  # true of nearly every id
    try:
        codec.check_id(record_id)
    except InvalidValue:
        return False
    return True


def record(collection: Collection[R], document: Document | None, now: datetime) -> R | None:
    """Returns the record in a document; None when there is no document, or it has expired."""
    if document is None or (collection.expires and document["expires_at"] <= now):
        return None
    # Fields that the record type does not have, such as the marks, are ignored.
    document["id"] = document["_id"]
    return msgspec.convert(document, collection.record)
