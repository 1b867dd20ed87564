"""What is counted of the calls of a store, and of the commands that they share."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Final

from idp.foundation import metrics
from storage import Conflict, Stale, Unavailable, Unknown
from storage.observer import Batch, Kind, Observer

_OUTCOMES: Final = {
    Conflict: "conflict",
    Stale: "stale",
    Unavailable: "unavailable",
    Unknown: "unknown",
}


def observers() -> Sequence[Observer]:
    """Returns the observer that counts; none where this process does not count."""
    return [StoreMetrics()] if metrics.process_name() else []


class StoreMetrics(Observer):
    """Counts what a store does."""

    def began(self, kind: Kind, method: str) -> tuple[str, float]:
        """Returns the call's method and its beginning."""
        return method, time.perf_counter()

    def ended(self, call: Any, error: BaseException | None) -> None:
        """Counts the call by its outcome."""
        method, began = call
        outcome = "ok" if error is None else _OUTCOMES.get(type(error), "failed")
        metrics.STORE_COMMANDS.count(method, outcome)
        metrics.STORE_COMMAND.observe(time.perf_counter() - began, method)

    def batch(self, batch: Batch) -> None:
        """Counts how many calls have shared a command."""
        metrics.STORE_BATCH_SIZE.observe(len(batch.calls), batch.kind)

    def primary_changed(self, address: str) -> None:
        """Counts that the database has another primary."""
        metrics.MONGO_PRIMARY_CHANGES.count()
