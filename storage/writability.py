"""Whether a store accepts writes, by the outcomes of the last ones."""

from __future__ import annotations

from storage.base import Store, Unavailable, Unknown


def note(store: Store, outcome: object) -> None:
    """Records the outcome of a write. A refused write says nothing about the store."""
    if isinstance(outcome, (Unavailable, Unknown)):
        store.is_read_only = True
    elif not isinstance(outcome, BaseException):
        store.is_read_only = False
