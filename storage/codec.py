"""Encoding of records into the plain values that a back end stores, with checks of paths and
types.

These rules hold on every back end: instants are UTC and cut to milliseconds; None is stored as
absence; NUL, lone surrogates, integers beyond 64 bits and records over 4 MiB are refused here,
before anything is queued.
"""

from __future__ import annotations

import itertools
import math
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from functools import cache, lru_cache
from typing import Any

import msgspec
from msgspec import Struct

from storage.base import (
    MAX_ID_CHARACTERS,
    MAX_RECORD_BYTES,
    Collection,
    Delete,
    Insert,
    InvalidValue,
    Update,
    Value,
    Write,
)

Instant = Callable[[datetime], Any]
INT_MIN, INT_MAX = -(2**63), 2**63 - 1
_SCALARS = (str, int, bool, datetime)
_MAX_SHORT_CHARACTERS = 200
_UNCHANGED_SCALARS = (str, bool, types.NoneType)
_MAX_NAMES = 4096
# Far below the limit, even with the parts of a record outside of its document.
_SMALL_BYTES = 64 * 1024
_SURROGATE = "text with a lone surrogate can't be stored"
_ESCAPED_NUL = b"\\u0000"
_UNCHANGED_TYPES = (datetime, date, time, timedelta, bytes, bytearray, memoryview, Decimal)


@lru_cache(maxsize=1024)
def truncated(value: datetime) -> datetime:
    """Returns the instant in UTC, truncated to milliseconds."""
    value = _utc(value)
    return value.replace(microsecond=value.microsecond // 1000 * 1000)


@lru_cache(maxsize=1024)
def instant_text(value: datetime) -> str:
    """Returns the instant as fixed-width RFC 3339 text, so that text order is time order."""
    return _utc(value).isoformat(timespec="milliseconds")[:-6] + "Z"


def _utc(value: datetime) -> datetime:
    if value.tzinfo is UTC:
        return value
    if value.tzinfo is None:
        raise InvalidValue("an instant must have a time zone")
    try:
        return value.astimezone(UTC)
    except OverflowError:
        raise InvalidValue("an instant outside the years 1 to 9999 can't be stored") from None


def encode(record: Struct, instant: Instant) -> dict[str, Any]:
    """Returns the record as plain values, without those that are None. Raises InvalidValue.

    `instant` converts an instant into the form in which the back end stores it.
    """
    fields = _builtins(record)
    encoded = _plain(fields, instant)
    _check_size(_encoded_size(fields))
    _check_readable(fields, type(record))
    return typing.cast(dict[str, Any], encoded)


def _check_readable(fields: Any, record_type: type[Struct]) -> None:
    """Raises InvalidValue for a record that could not be decoded again."""
    try:
        msgspec.convert(fields, record_type)
    except msgspec.ValidationError as error:
        raise InvalidValue(f"{record_type.__name__}: {error}") from error


def encode_json(record: Struct) -> bytes:
    """Returns the record as a JSON document, with instants as texts. Raises InvalidValue."""
    fields = _builtins(record)
    try:
        data = msgspec.json.encode(_plain(fields, instant_text))
    except UnicodeEncodeError:
        raise InvalidValue(_SURROGATE) from None
    if len(data) > _SMALL_BYTES or _ESCAPED_NUL in data:
        _check_size(_encoded_size(fields))
    _check_readable(fields, type(record))
    return data


def encode_value(value: object, instant: Instant) -> Any:
    """Returns the value to which a field is to be set, in the form in which it is stored. Raises
    InvalidValue.

    `instant` converts an instant into the form in which the back end stores it.
    """
    if _is_plain(value):
        return value
    builtins = _as_builtins(value)
    encoded = _plain(builtins, instant)
    _check_size(_encoded_size(builtins))
    return encoded


def encode_values(values: Mapping[str, object], instant: Instant) -> dict[str, Any]:
    """Returns the values to which fields of a record are to be set, by their dotted paths, in the
    form in which they are stored. `instant` converts an instant into the form in which the back
    end stores it.

    Raises InvalidValue, also if they are together larger than a record may be.
    """
    if all(_is_plain(value) for value in values.values()):
        return dict(values)
    builtins = {path: _as_builtins(value) for path, value in values.items()}
    encoded = {path: _plain(value, instant) for path, value in builtins.items()}
    _check_size(sum(map(_encoded_size, builtins.values())))
    return encoded


def _is_plain(value: object) -> bool:
    """Returns whether a value is stored unchanged: a fast check that most values of updates
    pass."""
    value_type = type(value)
    if value_type is str:
        text = typing.cast(str, value)
        return len(text) <= _MAX_SHORT_CHARACTERS and text.isascii() and "\0" not in text
    if value_type is int:
        return INT_MIN <= typing.cast(int, value) <= INT_MAX
    return value is None or value_type is bool


def _as_builtins(value: object) -> Any:
    return value if type(value) in _SCALARS or value is None else _builtins(value)


def _builtins(value: object) -> Any:
    """Returns the value with structs as dicts and other types in their JSON form.

    A type without a JSON form remains unchanged, and is refused later.
    """
    try:
        return msgspec.to_builtins(value, builtin_types=_UNCHANGED_TYPES)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidValue(f"{type(value).__name__} can't be stored: {error}") from error


def _plain(value: Any, instant: Instant) -> Any:
    """Returns the value without Nones, and with instants in their stored form.

    Texts are not checked.
    """
    value_type = type(value)
    if value_type is dict:
        return _fields(value, instant)
    if value_type is list or value_type is tuple:
        return [_plain(item, instant) for item in value]
    if value_type is datetime:
        return instant(value)
    if value_type not in _UNCHANGED_SCALARS:
        _check_number(value)
    return value


def _check_number(value: Any) -> None:
    if type(value) is int:
        if not INT_MIN <= value <= INT_MAX:
            raise InvalidValue("an integer beyond 64 bits can't be stored")
    elif type(value) is not float:
        raise InvalidValue(f"{type(value).__name__} can't be stored here; use text")
    elif not math.isfinite(value):
        raise InvalidValue(f"{value} can't be stored")


def _fields(fields: dict[Any, Any], instant: Instant) -> dict[str, Any]:
    """Encodes the members of an object.

    Most members are texts, for which the call of `_plain` is left out because it takes longer.
    """
    if not fields.keys() <= _checked_names:
        _check_names(fields)
    return {
        name: value if type(value) is str else _plain(value, instant)
        for name, value in fields.items()
        if value is not None
    }


# Names that were checked already: field names are few and recur with every record.
_checked_names: set[str] = set()


def _check_names(names: Iterable[Any]) -> None:
    for name in names:
        if type(name) is not str or not name or "." in name or name[0] == "$":
            raise InvalidValue("maps with foreign keys are stored as lists of entries")
    if len(_checked_names) < _MAX_NAMES:
        _checked_names.update(names)


def _encoded_size(value: object) -> int:
    """Returns the size of a plain value as JSON; raises InvalidValue for text that can't be
    stored."""
    try:
        data = msgspec.json.encode(value)
    except UnicodeEncodeError:
        raise InvalidValue(_SURROGATE) from None
    if _ESCAPED_NUL in data and _contains_nul(value):
        raise InvalidValue("text with NUL can't be stored")
    return len(data)


def _contains_nul(value: object) -> bool:
    if isinstance(value, dict):
        return any(_contains_nul(item) for pair in value.items() for item in pair)
    if isinstance(value, list | tuple):
        return any(map(_contains_nul, value))
    return isinstance(value, str) and "\0" in value


def _check_size(size: int) -> None:
    if size > MAX_RECORD_BYTES:
        raise InvalidValue(f"a record of {size} bytes is over {MAX_RECORD_BYTES}")


@cache
def check_collection(collection: Collection[Any]) -> None:
    """Checks that every back end supports the keys and lists that a collection declares.

    The result is cached. Raises InvalidValue.
    """
    for path in {*collection.unique, *itertools.chain(*collection.lists, *collection.narrowed)}:
        field_type(collection.record, path)
    for fields in collection.narrowed:
        if not _narrows(fields, collection.lists):
            raise InvalidValue(f"{collection.name}: no list is narrowed by {fields}")
    if collection.expires and field_type(collection.record, "expires_at") is not datetime:
        raise InvalidValue(f"{collection.name}.expires_at must be an instant")
    for field in msgspec.structs.fields(collection.record):
        if type(None) in typing.get_args(field.type) and field.default is not None:
            # None is stored as absence, and would be read as the default.
            raise InvalidValue(
                f"{collection.name}.{field.name} may be None, so that is its default"
            )


def _narrows(fields: tuple[str, ...], lists: Sequence[tuple[str, ...]]) -> bool:
    """Returns whether the fields are a declared list with a further field before it, with which
    another list begins."""
    is_distinct = fields not in lists and len(set(fields)) == len(fields)
    return is_distinct and fields[1:] in lists and any(fields[0] == names[0] for names in lists)


def check_unit(writes: Sequence[Write]) -> None:
    """Checks each write of a unit, and that no record has two, before the unit is queued. Raises
    InvalidValue."""
    if not writes:
        raise InvalidValue("a unit has at least one write")
    if len({(write.collection.name, write.id) for write in writes}) < len(writes):
        raise InvalidValue("a unit has at most one write for one record")
    for write in writes:
        check_write(write)


def check_write(write: Write) -> None:
    """Checks the id, the paths and the types of one write against its collection. Raises
    InvalidValue."""
    check_id(write.id)
    if isinstance(write, Insert):
        if not isinstance(write.record, write.collection.record):
            raise InvalidValue(f"{write.collection.name} doesn't hold {type(write.record)}")
        return
    check_expect(write.collection, write.expect)
    if isinstance(write, Update):
        _check_changes(write)


def check_id(record_id: str) -> None:
    if type(record_id) is not str or not 0 < len(record_id) <= MAX_ID_CHARACTERS:
        raise InvalidValue("an id is text of 1 to 200 characters")
    if "\0" in record_id or not (record_id.isascii() or _is_text(record_id)):
        raise InvalidValue("an id holds neither NUL nor a lone surrogate")


def check_count(key: str, by: int) -> None:
    """Checks the key and the increment of a counter. Raises InvalidValue."""
    check_id(key)
    if type(by) is not int or not INT_MIN <= by <= INT_MAX:
        raise InvalidValue("a counter counts by integers of 64 bits")


def _is_text(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def check_expect(collection: Collection[Any], expect: Mapping[str, Value]) -> None:
    """Checks that expected values are scalars of the field's own type. Raises InvalidValue."""
    for path, value in expect.items():
        check_values(collection, path, (value,))


def check_values(collection: Collection[Any], path: str, values: Iterable[Value]) -> None:
    """Checks that expected values of one field, at the dotted `path`, are scalars of its own type.
    Raises InvalidValue."""
    value_types, literals = _scalars(collection.record, path)
    for value in values:
        if value is not None and type(value) not in value_types and value not in literals:
            raise InvalidValue(f"{collection.name}.{path} can't be expected as {value!r}")


def _scalars_of(record: type[Struct], path: str) -> tuple[frozenset[type], tuple[object, ...]]:
    """Returns the types and the literals that a field may be compared with."""
    annotation = field_type(record, path)
    members = typing.get_args(annotation) if _is_union(annotation) else (annotation,)
    literals = [
        typing.get_args(member)
        for member in members
        if typing.get_origin(member) is typing.Literal
    ]
    value_types = frozenset(value_type for value_type in _SCALARS if value_type in members)
    return value_types, tuple(itertools.chain(*literals))


# Annotated, because mypy does not accept every type as hashable.
_scalars: Callable[[type[Struct], str], tuple[frozenset[type], tuple[object, ...]]]
_scalars = cache(_scalars_of)


def _check_changes(update: Update) -> None:
    name = update.collection.name
    paths = sorted([*update.set, *update.increment])
    for path, following in itertools.pairwise(paths):
        if following == path or following.startswith(f"{path}."):
            raise InvalidValue(f"{name}.{following} would be changed twice")
    if "id" in update.set:
        raise InvalidValue(f"{name}.id can't be changed")
    for path, value in update.set.items():
        # Nearly all values are of one of the field's scalar types, and need no conversion.
        if type(value) not in _scalars(update.collection.record, path)[0]:
            _check_value(update, path, value)
    for path, by in update.increment.items():
        if field_type(update.collection.record, path) is not int or type(by) is not int:
            raise InvalidValue(f"{name}.{path} isn't a number that can be incremented")


def _check_value(update: Update, path: str, value: object) -> None:
    try:
        msgspec.convert(_builtins(value), field_type(update.collection.record, path), strict=True)
    except msgspec.ValidationError as error:
        raise InvalidValue(f"{update.collection.name}.{path}: {error}") from error


def _field_type(record: type[Struct], path: str) -> Any:
    """Returns the annotation of a dotted path.

    Raises InvalidValue if there is none, or it crosses a list.
    """
    annotation: Any = record
    for name in path.split("."):
        struct = _struct_of(annotation)
        hints = typing.get_type_hints(struct) if struct else {}
        if name not in hints:
            raise InvalidValue(f"{record.__name__} has no path {path!r}")
        annotation = hints[name]
    return annotation


field_type: Callable[[type[Struct], str], Any] = cache(_field_type)


def _struct_of(annotation: Any) -> type[Struct] | None:
    members = typing.get_args(annotation) if _is_union(annotation) else (annotation,)
    for member in members:
        if isinstance(member, type) and issubclass(member, Struct):
            return member
    return None


def _is_union(annotation: Any) -> bool:
    return typing.get_origin(annotation) in (typing.Union, types.UnionType)


def deleted_only(writes: Sequence[Write]) -> bool:
    """Returns whether a unit only deletes: then no record remains that has the unit's id as a
    mark, and `Store.applied` can't find out whether it was applied."""
    return all(isinstance(write, Delete) for write in writes)
