"""The entry of an error code in the error catalogue."""

from __future__ import annotations

from typing import NamedTuple


class CatalogueEntry(NamedTuple):
    """An entry of the error catalogue: the HTTP status of the error, its cause, and how to resolve
    it."""

    status: int
    cause: str
    cure: str
