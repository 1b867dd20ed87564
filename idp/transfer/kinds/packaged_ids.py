"""The rule for ids that a package brings from another system, and the names of unreadable rows."""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct

from idp.foundation import uris
from idp.schema.field_rules import FieldRefused, Schema, Text
from idp.transfer.package.rows import value_of

# Path segments of the API's addresses.
_RESERVED_IDS: Final = frozenset({"_search", "oidc", "api"})


class RecordId(Struct, frozen=True):
    """The rule of a field that holds a record's id, chosen by the package: printable ASCII, as RFC
    6749, A.1 requires of client ids.
    """

    def read(self, value: object) -> str:
        text = Text(1).read(value)
        if not text.isascii() or not text.isprintable() or text != text.strip():
            raise FieldRefused(
                "id.characters", "must be printable ASCII, without leading or trailing spaces"
            )
        if text in _RESERVED_IDS or uris.has_relative_segment(text):
            raise FieldRefused("id.reserved", "must not be a word that is part of API paths")
        return text

    def schema(self) -> Schema:
        return Text(1).schema() | {"examples": ["69629026806489455"]}


def named(*names: str) -> Any:
    """Returns a function for `RowKind.name`: it names a row that is not valid by the texts of the
    members `names` in its document, joined with "_".
    """

    def name(document: Any) -> str:
        ids = [value_of(document, name) for name in names]
        return "_".join(each for each in ids if isinstance(each, str))

    return name
