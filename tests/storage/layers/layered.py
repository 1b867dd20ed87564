"""Overlays as back ends: over an empty store, and over one that holds what a test wrote first."""

from __future__ import annotations

import asyncio

from storage import Insert, open_store
from storage.overlay import Overlay


class LayeredStore(Overlay):
    """An overlay that opens and closes the store below it too."""

    def __init__(self, **clock_and_ids):
        lower, upper = (open_store("memory://", **clock_and_ids) for _ in range(2))
        super().__init__(lower, upper)

    async def open(self, collections, *schema):
        await self._lower.open(collections, *schema)
        await super().open(collections, *schema)

    async def close(self):
        await super().close()
        await self._lower.close()


class FilledStore(LayeredStore):
    """What a test begins with lies below: its first call, where that only adds something."""

    def __init__(self, **clock_and_ids):
        super().__init__(**clock_and_ids)
        self._first = asyncio.Lock()
        self._is_filled = False

    async def commit_each(self, units):
        if all(isinstance(write, Insert) for unit in units for write in unit):
            return await self._shield(self._placed("commit_each", units))
        self._is_filled = True
        return await super().commit_each(units)

    async def increment(self, key, by=1, *, window):
        return await self._shield(self._placed("increment", key, by, window=window))

    async def _placed(self, method, *arguments, **options):
        async with self._first:  # nobody writes above while somebody writes below
            if not self._is_filled:
                self._is_filled = True
                return await getattr(self._lower, method)(*arguments, **options)
        return await getattr(super(), method)(*arguments, **options)
