"""Reading of records together with those that their fields name (`Reader.get_following`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, Self, TypeAlias

from msgspec import Struct

Name: TypeAlias = tuple[str, str]


class Records(dict[Name, Any]):
    """Records that were read, by the name of their collection and their id; None for each that is
    absent from the store."""

    @classmethod
    def read(cls, keys: Iterable[NamedKey], records: Iterable[Any]) -> Self:
        """Returns the records with these keys, which are in the same order."""
        return cls(zip(map(name_of, keys), records, strict=True))

    def of(self, collection: Named, record_id: str) -> Any:
        """Returns the record with this id, None if the store has none. Raises KeyError if it was
        not read."""
        return self[collection.name, record_id]

    def with_more(self, records: Mapping[Name, Any]) -> Self:
        """Returns these records and others; where both have one, the other."""
        return type(self)({**self, **records})


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
    """Returns the name of the record with this key: its collection's name, and its id."""
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
) -> Records:
    """Reads the records of `keys`, then those that they name: at most two calls of
    `get_many`."""
    read = await reader.get_many(keys)
    records = Records.read(keys, read)
    if not follow:
        return records
    keys_by_name = {name_of(key): key for key in named_by(keys, read, follow)}
    unread_keys = [key for name, key in keys_by_name.items() if name not in records]
    if unread_keys:
        records.update(Records.read(unread_keys, await reader.get_many(unread_keys)))
    return records


class Following:
    """The method of a reader that reads records together with those that they name."""

    async def get_many(self, keys: Sequence[Any]) -> list[Any]:
        """Returns the records in the order of `keys`, None for each absent one."""
        raise NotImplementedError

    async def get_records(self, keys: Sequence[Any]) -> Records:
        """Returns the records of `keys`, by name."""
        return Records.read(keys, await self.get_many(keys) if keys else [])

    async def get_following(self, keys: Sequence[Any], follow: Sequence[Follow]) -> Records:
        """Returns the records of `keys`, and those that their fields name as `follow` states, by
        name.

        One round trip where the back end is reached over a network. The records need not be from
        the same moment.
        """
        return await read_sequentially(self, keys, follow)
