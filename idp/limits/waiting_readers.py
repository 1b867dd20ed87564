"""A limit on how many readers of events wait in this process at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from idp.foundation.errors import Busy

MAX_WAITING: Final = 100
_RETRY_SECONDS: Final = 5


class WaitingReaders:
    """Counts the readers that wait for new events in this process."""

    def __init__(self) -> None:
        self._count = 0

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Counts a reader within the block. Raises Busy if 100 wait already."""
        if self._count >= MAX_WAITING:
            raise Busy("too many readers wait for new events", retry_after_seconds=_RETRY_SECONDS)
        self._count += 1
        try:
            yield
        finally:
            self._count -= 1
