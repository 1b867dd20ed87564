"""Whether a store takes writes, as far as what came of the last ones tells."""

from __future__ import annotations

from storage.base import Store, Unavailable, Unknown


def note(store: Store, outcome: object) -> None:
    """Note what came of a write. One that was refused tells nothing about the store."""
    if isinstance(outcome, (Unavailable, Unknown)):
        store.is_read_only = True
    elif not isinstance(outcome, BaseException):
        store.is_read_only = False
