"""The state of a back end other than its records, for the operators of an installation."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

# The time after its due removal from which on an expired record counts as overdue.
OVERDUE_AFTER: Final = timedelta(hours=1)


class FileState(NamedTuple):
    """The sizes in bytes of a store that is a file: of the file, of the part of it that is not in
    use, and of the log of writes that the file does not have yet.
    """

    file_bytes: int
    free_bytes: int
    log_bytes: int


class ServerState(NamedTuple):
    """The state of the server that holds a store.

    `members` are the members of its replica set that have the records, and `reachable` those of
    them that answer; both are 0 where they are not known, as in a sharded cluster.
    `unconfirmed_seconds` is how long ago the newest write was made that a majority does not have.
    The lifetime of a transaction and of the history for snapshots are None if the store's user may
    not read these parameters.
    """

    version: tuple[int, ...]
    members: int = 0
    reachable: int = 0
    unconfirmed_seconds: float = 0.0
    transaction_seconds: int | None = None
    history_seconds: int | None = None


class Condition:
    """The state of a back end other than its records.

    The methods are the defaults for a back end that has neither a server nor a file, and removes
    expired records immediately. They only read, except `rolls_back`. `is_sharded` says, once the
    store is open, whether it is in a sharded cluster, which is not supported.
    """

    is_sharded: bool = False

    async def server_time(self) -> datetime | None:
        """Returns the time of the server that holds the store; None if that is this machine.

        Raises Unavailable.
        """
        return None

    async def count_overdue(self, *, up_to: int) -> int:
        """Returns the number of expired records that were due for removal an hour ago, at most
        `up_to`.

        Of a collection without an index by expiry, only the first records are checked. Raises
        Unavailable.
        """
        return 0

    async def missing_indexes(self, collections: Sequence[Any]) -> list[str]:
        """Returns the names of the tables and indexes that `open` would create for these
        collections.

        The store may have been opened without them. Raises Unavailable.
        """
        return []

    async def file_state(self) -> FileState | None:
        """Returns the sizes of the store's file; None if the store has no file. Raises
        Unavailable."""
        return None

    async def find_damage(self, up_to: int) -> list[str]:
        """Reads the whole file of the store; returns descriptions of its damage, at most `up_to`
        sentences.

        Raises Unavailable.
        """
        return []

    async def engine_version(self) -> str:
        """Returns the version of the database that holds the store, such as 8.0.4; empty if it has
        none. Raises Unavailable.
        """
        return ""

    async def server_state(self) -> ServerState | None:
        """Returns the state of the server that holds the store; None if there is no server. Raises
        Unavailable.
        """
        return None

    async def rolls_back(self) -> bool:
        """Returns whether the store rolls an aborted unit back completely.

        The unit is written into a collection of its own, which is removed afterwards. Raises
        Unavailable.
        """
        return True
