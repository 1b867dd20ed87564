"""Records of any type with any values that a store may hold, repeated by a seed."""

from __future__ import annotations

import random
import types
import typing
from datetime import UTC, datetime, timedelta

import msgspec
from msgspec import Struct

from idp.records import ALL

TEXTS = (
    "",
    "a",
    "Zürich",
    "日本語",
    "\u202eabc",
    "😀" * 40,
    'quote " and \\ back',
    "line\nbreak\ttab",
    "\x7f\x01",
    "x" * 5000,
    "\U0010ffff",
)
NUMBERS = (0, 1, -1, 2**31, 2**53 + 1, 2**63 - 1, -(2**63))
FIRST = datetime(1, 1, 1, tzinfo=UTC)
LAST = datetime(9999, 12, 31, 23, 59, 59, 999_000, tzinfo=UTC)


class Generator:
    """Generates records with unique values in unique fields."""

    def __init__(self, seed: int, now: datetime) -> None:
        self.random = random.Random(seed)
        self._now = now
        self._number = 0

    def store(self, most: int = 4) -> list[tuple[typing.Any, list[Struct]]]:
        """Up to this number of records of every collection."""
        return [
            (collection, [self.record(collection) for _ in range(self.random.randint(1, most))])
            for collection in ALL
        ]

    def record(self, collection):
        self._number += 1
        fixed = {"id": f"{self.random.choice('aZé~')}{self._number}"}
        fixed |= {name: f"{name} {self._number}" for name in collection.unique}
        if collection.expires:
            fixed["expires_at"] = self._now + timedelta(seconds=self.random.randint(1, 10**8))
        return self._struct(collection.record, fixed)

    def _struct(self, kind, fixed=types.MappingProxyType({})):
        hints = typing.get_type_hints(kind)
        names = [field.name for field in msgspec.structs.fields(kind)]
        made = {name: self._value(hints[name]) for name in names if name not in fixed}
        return kind(**made, **fixed)

    def _value(self, hint):
        origin, members = typing.get_origin(hint), typing.get_args(hint)
        if origin in (typing.Union, types.UnionType):
            return self._value(self.random.choice(members))
        if origin is typing.Literal:
            return self.random.choice(members)
        if origin is list:
            return [self._value(members[0]) for _ in range(self.random.randint(0, 3))]
        if origin is dict:
            keys = [self._value(members[0]) for _ in range(self.random.randint(0, 3))]
            return {key: self._value(members[1]) for key in keys}
        if origin is tuple:
            return tuple(self._value(each) for each in members if each is not Ellipsis)
        return self._plain(hint)

    def _plain(self, hint):
        if hint is types.NoneType:
            return None
        if hint is bool:
            return self.random.random() < 0.5
        if hint is int:
            return self.random.choice((*NUMBERS, self.random.randint(-(10**6), 10**6)))
        if hint is float:
            return self.random.uniform(-1e9, 1e9)
        if hint is str:
            return self.random.choice((*TEXTS, f"text {self.random.random()}"))
        if hint is datetime:
            return self.random.choice((FIRST, LAST, self._now, self._now - timedelta(days=400)))
        assert issubclass(hint, Struct), hint
        return self._struct(hint)
