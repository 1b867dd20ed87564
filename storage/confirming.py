"""Whether what a store has returned can be taken back by the loss of a server.

A read may return what no majority of the servers has yet. A unit that is committed afterwards
confirms it, and so do the refusals of a commit. An answer without either, that says that something
was done before or is the case already, has to be confirmed.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Any, Final, TypeVar

T = TypeVar("T")


class Confirming:
    """The methods of a store that confirm what it has returned."""

    async def get(self, collection: Any, id: str) -> Any:  # noqa: A002 - the contract
        """Returns the record with this id, or None."""
        raise NotImplementedError

    async def get_confirmed(self, collection: Any, record_id: str) -> Any:
        """Returns the record with this id, or None, as a majority of the servers has it. It takes
        a separate command. Raises Unavailable."""
        return await self.get(collection, record_id)

    def read_point(self) -> object:
        """Returns the point from which `confirm` confirms reads."""
        return None

    async def confirm(self, point: object) -> None:
        """Returns once a majority of the servers has everything that this process has read since
        `point`, a result of `read_point`. Raises Unavailable if that can't be known, such as after
        a change of the primary."""


class _Reads:
    """The reads of one task and those that it starts: whether a commit has followed them."""

    has_committed = False


_current: Final[ContextVar[_Reads | None]] = ContextVar("reads", default=None)


def record_commit() -> None:
    """Records that a unit was committed in the current block of `confirmed_unless_committed`."""
    reads = _current.get()
    if reads is not None:
        reads.has_committed = True


@asynccontextmanager
async def confirmed_unless_committed(
    store: Confirming, refusals: tuple[type[Exception], ...]
) -> AsyncIterator[None]:
    """A block whose result is answered as true: at its end its reads are confirmed, unless it has
    committed a unit. If it raises one of `refusals`, they are confirmed in any case. Raises
    Unavailable."""
    reads = _Reads()
    token = _current.set(reads)
    point = store.read_point()
    try:
        yield
    except refusals:
        await store.confirm(point)
        raise
    finally:
        _current.reset(token)
    if not reads.has_committed:
        await store.confirm(point)
