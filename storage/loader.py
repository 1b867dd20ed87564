"""Insertion of many records into a store that is empty."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, nullcontext


class Loader:
    """The part of a back end that speeds up filling; by default it has no effect."""

    def loading(self) -> AbstractAsyncContextManager[object]:
        """Returns a context in which records are inserted faster into empty collections; they are
        durable at its end.

        Raises StorageError at the end if a unique key is not unique.
        """
        return nullcontext()
