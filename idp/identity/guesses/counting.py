"""Changes a stored count by compare-and-set, so that all processes share it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from idp.limits import compare_and_set
from idp.limits.compare_and_set import Decide, ReadRecord
from idp.service import Service
from storage import Record

R = TypeVar("R", bound=Record)
D = TypeVar("D")


async def decide(
    service: Service, read: ReadRecord[R], decision: Decide[R, D]
) -> tuple[R | None, D]:
    """Changes one record of counts as `compare_and_set.decide` does. Raises Busy, StorageError."""
    revision = service.random.token(bits=64)
    return await compare_and_set.decide(service.store, read, decision, revision)


async def change(
    service: Service, read: ReadRecord[R], changed: Callable[[R | None], R | None]
) -> R | None:
    """Changes one record of counts to what `changed` returns: the same one if nothing is to be
    changed, None to delete it. Returns what is stored. Raises Busy, StorageError."""
    record, _ = await decide(service, read, lambda stored: (changed(stored), None))
    return record
