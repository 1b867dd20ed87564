"""Return of free pages to the file system, a few at a time, once there are many of them."""

from __future__ import annotations

import sqlite3
from typing import Final

PAGES_PER_RELEASE: Final = 200  # less than a megabyte, once a second
MIN_BYTES: Final = 64 * 1024 * 1024
_BEGINS_ABOVE: Final = 0.2
_ENDS_BELOW: Final = 0.1
# The file becomes shorter only when the log is copied into it.
_PAGES_BETWEEN_COPIES: Final = 5_000
_INCREMENTAL: Final = 2


class FreeSpace:
    """The free pages of a file with `auto_vacuum = INCREMENTAL`; of any other file, no page is
    returned.

    Returning begins when a fifth of the file and 64 MiB are free, and ends at a tenth.
    """

    def __init__(self) -> None:
        self._is_shrinking = False
        self._released = 0

    def is_due(self, connection: sqlite3.Connection) -> bool:
        """Returns whether pages are to be returned at this moment."""
        free, pages = _number(connection, "freelist_count"), _number(connection, "page_count")
        if self._is_shrinking:
            self._is_shrinking = free > _ENDS_BELOW * pages
        else:
            self._is_shrinking = (
                free > _BEGINS_ABOVE * pages
                and free * _number(connection, "page_size") > MIN_BYTES
                and _number(connection, "auto_vacuum") == _INCREMENTAL
            )
        return self._is_shrinking

    def release(self, connection: sqlite3.Connection) -> bool:
        """Returns some pages to the file system; returns whether the log is to be copied now."""
        # `execute` would step once, which returns one page: the statement has no columns.
        connection.executescript(f"PRAGMA incremental_vacuum({PAGES_PER_RELEASE:d})")
        self._released += PAGES_PER_RELEASE
        is_copy_due = self._released >= _PAGES_BETWEEN_COPIES or not self.is_due(connection)
        if is_copy_due:
            self._released = 0
        return is_copy_due


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    return int(connection.execute(f"PRAGMA {pragma}").fetchone()[0])
