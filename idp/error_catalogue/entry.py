"""The entry of an error code in the error catalogue."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

from idp.foundation.i18n import Message


class CatalogueEntry(NamedTuple):
    """The HTTP status with which an error code is answered, and what to do about it, for people at
    a form and for developers. A text that forms often display is translated."""

    status: int
    text: Message | str

    @property
    def fix(self) -> str:
        """The text in English, as the API answers it."""
        return self.text.msgid if isinstance(self.text, Message) else self.text


ErrorCodes: TypeAlias = Mapping[str, CatalogueEntry]
