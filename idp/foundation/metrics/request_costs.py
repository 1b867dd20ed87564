"""The costs of a request so far, for the access log: calls of the store, the time that they
took, and the time that the request waited for its turn.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from contextvars import ContextVar
from time import perf_counter_ns
from typing import Any, Final

from msgspec import Struct

from idp.foundation import logs
from storage.observer import Batch, Kind, Observer

_log: Final = logs.logger(__name__)


class RequestCosts(Struct):
    """The costs of a request. The times are in nanoseconds; `waited` is that until the request was
    answered, and the part of `store` in which calls waited for the command that they share with
    others to be sent.
    """

    commands: int = 0
    store: int = 0
    waited: int = 0


class _StoreCall(Struct):
    """A call of the store for a request, which began at this nanosecond."""

    costs: RequestCosts
    began: int


_request: Final[ContextVar[RequestCosts | None]] = ContextVar("request costs", default=None)


def begin_request() -> None:
    """Begins to measure the costs of the request that this task answers."""
    _request.set(RequestCosts())


class _Waiting(Struct):
    """The context manager that `waiting` returns."""

    began: int = 0

    def __enter__(self) -> None:
        self.began = perf_counter_ns()

    def __exit__(self, *_: object) -> None:
        costs = _request.get()
        if costs is not None:
            costs.waited += perf_counter_ns() - self.began


def waiting() -> AbstractContextManager[None]:
    """Adds the time within the block to that which the request has waited."""
    return _Waiting()


def commands() -> int:
    """Returns how often the request that this task answers has called the store so far."""
    costs = _request.get()
    return costs.commands if costs is not None else 0


def log_fields() -> Mapping[str, object]:
    """Returns the costs of the request that this task answers, as fields of a line of the log;
    none if it has neither waited nor called the store.
    """
    costs = _request.get()
    if costs is None or not (costs.commands or costs.waited):
        return {}
    return {
        "store_commands": costs.commands,
        "store_milliseconds": _milliseconds(costs.store),
        "waited_milliseconds": _milliseconds(costs.waited),
    }


def _milliseconds(nanoseconds: int) -> float:
    return round(nanoseconds / 1_000_000, 1)


class StoreCosts(Observer):
    """Adds the calls of a store to the costs of the requests that make them, and logs when there
    is another primary.
    """

    def began(self, kind: Kind, method: str) -> _StoreCall | None:
        costs = _request.get()
        if costs is None:
            return None
        costs.commands += 1
        return _StoreCall(costs, perf_counter_ns())

    def ended(self, call: Any, error: BaseException | None) -> None:
        if call is not None:
            call.costs.store += perf_counter_ns() - call.began

    def batch(self, batch: Batch) -> None:
        for call in batch.calls:
            if call is not None:
                call.costs.waited += max(0, batch.began - call.began)

    def primary_changed(self, address: str) -> None:
        _log.warning("the store has another primary", primary=address)
