"""What the catalogue says of an error code."""

from __future__ import annotations

from typing import NamedTuple


class CatalogueEntry(NamedTuple):
    """Under which status it is answered, why, and what to do."""

    status: int
    cause: str
    cure: str
