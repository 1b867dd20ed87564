"""Compaction: the file of a store is rewritten without its free space."""

from __future__ import annotations

from msgspec import Struct

from storage.base import StorageError


class InUse(StorageError):
    """The store is in use; nothing was changed."""


class NoRoom(StorageError):
    """The disk has too little free space; nothing was changed."""


class Compacted(Struct, frozen=True, rename="camel"):
    """The size of the file before and after, in bytes."""

    bytes_before: int
    bytes_after: int
