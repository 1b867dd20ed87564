"""Ids that records bring along from elsewhere, and what stands at them here."""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct

from idp.schema.field_rules import FieldRefused, Schema, Text
from idp.transfer.package.rows import value_of

_WORDS: Final = frozenset({".", "..", "_search", "oidc", "api"})  # that addresses are made of


class RecordId(Struct, frozen=True):
    """An id of one's own, in printable ASCII: RFC 6749 wants that of client ids."""

    def read(self, value: object) -> str:
        id = Text(1).read(value)
        if not id.isascii() or not id.isprintable() or id != id.strip():
            raise FieldRefused(
                "id.characters", "must be of printable ASCII, without spaces around it"
            )
        if id in _WORDS:
            raise FieldRefused("id.reserved", "must not be a word that addresses are made of")
        return id

    def schema(self) -> Schema:
        return Text(1).schema() | {"examples": ["69629026806489455"]}


def named(*names: str) -> Any:
    """What tells of a row that can't be read what it is called: the ids in these members."""

    def name(document: Any) -> str:
        found = [value_of(document, name) for name in names]
        return "_".join(each for each in found if isinstance(each, str))

    return name
