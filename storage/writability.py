"""Whether a store accepts writes, as the outcomes of the last writes show."""

from __future__ import annotations

import time

from storage.base import Store, Unavailable, Unknown


def record_outcome(store: Store, outcome: object) -> None:
    """Marks the store as read-only if `outcome`, the result or the exception of a write, is
    Unavailable or Unknown, and as writable after a success.

    Other exceptions, such as Conflict, change nothing: the store was reachable and refused the
    write.
    """
    if isinstance(outcome, (Unavailable, Unknown)):
        store.is_read_only, store.failed_at = True, time.monotonic()
    elif not isinstance(outcome, BaseException):
        store.is_read_only = False


def seconds_since_failure(store: Store) -> float:
    """Returns how long ago a write of this process last failed; infinity if none has."""
    return time.monotonic() - store.failed_at
