"""Limits on the concurrent calls of a process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary

from idp.outgoing.failures import Failed


class CallSlots:
    """Limits the calls that are in progress: in all, to each host, and of each owner.

    A host that answers slowly leaves room for calls to the others; an organization whose hosts
    are slow, for calls of the others.
    """

    def __init__(self, max_calls: int, max_per_host: int, max_per_owner: int) -> None:
        self._all = asyncio.Semaphore(max_calls)
        self._max_per_host = max_per_host
        self._max_per_owner = max_per_owner
        # The semaphore of a host or owner exists as long as a call waits for it or is in progress.
        self._by_host: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
        self._by_owner: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    @asynccontextmanager
    async def acquired(self, host: str, owner: str | None, seconds: float) -> AsyncIterator[None]:
        """Waits, at most `seconds`, until a call to this host may begin; the block is the call.

        `owner` is the id of the organization that has chosen the host; None, if the operator has,
        is not limited. Raises Failed.
        """
        limits = self._limits(host, owner)
        try:
            async with asyncio.timeout(seconds):
                await _acquire(limits)
        except TimeoutError:
            raise Failed("too many calls are in progress") from None
        try:
            yield
        finally:
            _release(limits)

    def _limits(self, host: str, owner: str | None) -> list[asyncio.Semaphore]:
        """Returns the limits in the order in which a call has to pass them: an owner's first, so
        that no owner has many calls that wait for the other limits."""
        limits = [_semaphore(self._by_host, host, self._max_per_host), self._all]
        if owner is not None:
            limits.insert(0, _semaphore(self._by_owner, owner, self._max_per_owner))
        return limits


def _semaphore(
    semaphores: WeakValueDictionary[str, asyncio.Semaphore], key: str, limit: int
) -> asyncio.Semaphore:
    semaphore = semaphores.get(key)
    if semaphore is None:
        semaphore = semaphores[key] = asyncio.Semaphore(limit)
    return semaphore


async def _acquire(limits: Sequence[asyncio.Semaphore]) -> None:
    acquired: list[asyncio.Semaphore] = []
    try:
        for each in limits:
            await each.acquire()
            acquired.append(each)
    except BaseException:
        _release(acquired)
        raise


def _release(limits: Sequence[asyncio.Semaphore]) -> None:
    for each in limits:
        each.release()
