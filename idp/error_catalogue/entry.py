"""The entry of an error code in the error catalogue."""

from __future__ import annotations

from typing import NamedTuple


class CatalogueEntry(NamedTuple):
    """The entry of an error code in the error catalogue: the HTTP status with which it is
    answered, its cause, and how to resolve it (`fix`), both as sentences."""

    status: int
    cause: str
    fix: str
