"""The texts of messages that an organization may set, and their placeholders."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from idp.schema.field_rules import FieldRefused, Schema, Text

MAX_LINE: Final = 200
MAX_TEXT: Final = 2000
PLACEHOLDERS: Final = ("Application", "Host")
_PLACEHOLDER: Final = re.compile(r"\{\{\s*\.(\w+)\s*\}\}")
_BRACES: Final = re.compile(r"\{\{|\}\}")

# The messages with such texts, by their names in addresses of the API.
TYPES: Final = ("verifyemail", "passwordreset")


class WordingRule(Struct, frozen=True):
    """The rule (`field_rules.Rule`) of a field that holds a text of a message: at most `max`
    characters in one line, without placeholders that the message can't fill."""

    max: int

    def read(self, value: object) -> str:
        text = Text(max=self.max).read(value)
        unknown = set(_PLACEHOLDER.findall(text)) - set(PLACEHOLDERS)
        if unknown or _BRACES.search(_PLACEHOLDER.sub("", text)):
            placeholders = " and ".join(f"{{{{.{name}}}}}" for name in PLACEHOLDERS)
            raise FieldRefused("text.placeholder", f"may name {placeholders} only")
        return text

    def schema(self) -> Schema:
        return Text(max=self.max).schema()


def filled(text: str, values: Mapping[str, str]) -> str:
    """Returns the text `words` with its placeholders, such as `{{.Host}}`, replaced by `values`,
    which are by the placeholders' names."""
    return _PLACEHOLDER.sub(lambda match: values[match[1]], text)
