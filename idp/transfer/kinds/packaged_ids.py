"""Ids that records bring from another system, and how a row that cannot be read is
named by them.
"""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct

from idp.schema.field_rules import FieldRefused, Schema, Text
from idp.transfer.package.rows import value_of

# Path segments of the API's addresses.
_WORDS: Final = frozenset({".", "..", "_search", "oidc", "api"})


class RecordId(Struct, frozen=True):
    """An id that the package chooses, in printable ASCII as RFC 6749, A.1 requires of
    client ids.
    """

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
    """Returns a function that names a row that can't be read, by the ids in these members."""

    def name(document: Any) -> str:
        ids = [value_of(document, name) for name in names]
        return "_".join(each for each in ids if isinstance(each, str))

    return name
