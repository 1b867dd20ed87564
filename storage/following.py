"""Reading of records together with those that their fields name (`Reader.get_following`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Protocol, TypeAlias

from msgspec import Struct

Name: TypeAlias = tuple[str, str]
RecordsByName: TypeAlias = Mapping[Name, Any]
NO_RECORDS: Final[RecordsByName] = MappingProxyType({})


class Named(Protocol):
    """The part of a collection that this module uses: its name."""

    @property
    def name(self) -> str:
        """The collection's name."""


NamedKey: TypeAlias = tuple[Named, str]


class ReadsMany(Protocol):
    """The method of a reader that reads records by their keys."""

    async def get_many(self, keys: Sequence[Any]) -> list[Any]:
        """Returns the records in the order of `keys`, None for each absent one."""


class Follow(Struct, frozen=True):
    """States that the records of `collection` name others: `field`, a dotted path, has the id of a
    record of `to`, or a list of such ids, or None."""

    collection: Any
    field: str
    to: Any


def name_of(key: NamedKey) -> Name:
    """Returns the name by which the record with this key is found in the result of
    `get_following`: its collection's name, and its id."""
    collection, record_id = key
    return collection.name, record_id


def named_by(
    keys: Sequence[NamedKey], records: Iterable[Any], follow: Sequence[Follow]
) -> Iterator[tuple[Any, str]]:
    """Yields the keys that the fields of these records name, as `follow` states. `records` are in
    the order of `keys`, None where one is absent."""
    for (collection, _), record in zip(keys, records, strict=True):
        if record is None:
            continue
        for rule in follow:
            if rule.collection.name == collection.name:
                for record_id in _ids_at(record, rule.field):
                    yield rule.to, record_id


def _ids_at(record: Any, path: str) -> Iterable[str]:
    value = record
    for name in path.split("."):
        value = getattr(value, name, None)
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else value


async def read_sequentially(
    reader: ReadsMany, keys: Sequence[NamedKey], follow: Sequence[Follow]
) -> RecordsByName:
    """Reads the records of `keys`, then those that they name: two calls of `get_many`."""
    records = await reader.get_many(keys)
    records_by_name: dict[Name, Any] = dict(zip(map(name_of, keys), records, strict=True))
    keys_by_name = {name_of(key): key for key in named_by(keys, records, follow)}
    unread_keys = [key for name, key in keys_by_name.items() if name not in records_by_name]
    if unread_keys:
        further_records = await reader.get_many(unread_keys)
        records_by_name.update(zip(map(name_of, unread_keys), further_records, strict=True))
    return records_by_name


class Following:
    """The method of a reader that reads records together with those that they name."""

    async def get_many(self, keys: Sequence[Any]) -> list[Any]:
        """Returns the records in the order of `keys`, None for each absent one."""
        raise NotImplementedError

    async def get_following(self, keys: Sequence[Any], follow: Sequence[Follow]) -> RecordsByName:
        """Returns the records of `keys`, and those that their fields name as `follow` states, by
        name (`name_of`), None for each absent one.

        One round trip where the back end is reached over a network. The records need not be from
        the same moment.
        """
        return await read_sequentially(self, keys, follow)
