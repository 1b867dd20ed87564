"""The entry of an error code in the error catalogue."""

from __future__ import annotations

from typing import NamedTuple

from idp.foundation.i18n import Message


class CatalogueEntry(NamedTuple):
    """The entry of an error code in the error catalogue: the HTTP status with which it is
    answered, its cause, and how to resolve it (`fix`), both as sentences.

    Forms display `field_text` at the field that has the problem, and `request_text` for the
    request as a whole.
    """

    status: int
    cause: str
    fix: str
    field_text: Message | None = None
    request_text: Message | None = None
