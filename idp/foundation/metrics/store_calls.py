"""Metrics of the calls of a store, and of the commands that they share."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Final

from idp.foundation import metrics
from storage import Conflict, Stale, Unavailable, Unknown
from storage.observer import Batch, Kind, Observer, PoolQueue

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
    """Counts the calls of a store, and the commands and connections behind them."""

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

    def swept(self, collection: str, records: int) -> None:
        """Counts expired records that were removed."""
        metrics.SWEPT.count(collection, by=records)

    def log_copied(self, seconds: float) -> None:
        """Counts how long SQLite's log took to be copied."""
        metrics.SQLITE_CHECKPOINT.observe(seconds)

    def pool(self, active: int, idle: int) -> None:
        """Sets the number of connections to MongoDB."""
        metrics.MONGO_POOL_CONNECTIONS.set(active, "active")
        metrics.MONGO_POOL_CONNECTIONS.set(idle, "idle")

    def pool_waits(self, queue: PoolQueue, seconds: Sequence[float]) -> None:
        """Counts how long commands waited for a connection to MongoDB."""
        for each in seconds:
            metrics.MONGO_POOL_WAIT.observe(each, queue)
