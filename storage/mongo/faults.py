"""The meaning of a driver's error: nothing was sent, the answer is lost, or the server refused.

A lost answer leaves open whether the write was applied. So a sent command is recorded as being
in doubt, and only an answer, or the unit's mark on a record, removes the doubt."""

from __future__ import annotations

import asyncio
import time
import zlib
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

from pymongo.errors import (
    BulkWriteError,
    ConnectionFailure,
    DuplicateKeyError,
    InvalidOperation,
    NotPrimaryError,
    OperationFailure,
    PyMongoError,
    ServerSelectionTimeoutError,
    WaitQueueTimeoutError,
    WriteConcernError,
)

from storage.base import UNKNOWN_AFTER_SECONDS, Conflict, InvalidValue, StorageError, Unavailable

T = TypeVar("T")

FIRST_PAUSE_SECONDS: Final = 0.01
LONGEST_PAUSE_SECONDS: Final = 0.25
_DUPLICATE_KEY: Final = 11000
# The server's codes for a change that no record can have: a number beyond 64 bits, a record beyond
# 16 MiB, a path through a value that is not an object.
_IMPOSSIBLE: Final = frozenset({2, 14, 28, 40, 10334, 17419, 17420})
# A server that becomes the primary, is no longer the primary, or shuts down.
_PRIMARY_CHANGES: Final = frozenset({91, 189, 10058, 10107, 11600, 11602, 13435, 13436})
_SNAPSHOT_TOO_OLD: Final = 239
# Collections and indexes that are newer than the moment which the server chose to read at.
_SNAPSHOT_UNAVAILABLE: Final = 246
# The server gave up being the primary before a majority had what it read.
_NOT_LINEARIZABLE: Final = 148


class Attempts:
    """Counts and limits the attempts of one operation: whether another may follow, after which
    pause, and whether the operation may have been applied by one whose answer was lost
    (`is_in_doubt`)."""

    def __init__(self, seed: str, within_seconds: float = UNKNOWN_AFTER_SECONDS) -> None:
        self.deadline: Final = time.monotonic() + within_seconds
        self.is_in_doubt = False
        self._seed = seed
        self._failures = 0

    @property
    def has_time(self) -> bool:
        return time.monotonic() < self.deadline

    def may_repeat(self, error: Exception) -> bool:
        """Returns whether another attempt may succeed after this error: the deadline has not
        passed, and repeating can help. It can't if no server was found from the start."""
        if is_unsent(error) and not self.is_in_doubt and not self._failures:
            return False
        return is_transient(error) and self.has_time

    def record_failure(self, error: Exception) -> bool:
        """Records that an attempt failed with this error, and whether it may have been applied;
        returns whether it was the last attempt."""
        may_repeat = self.may_repeat(error)
        if not is_unsent(error) and not is_refused(error):
            self.is_in_doubt = True
        return not may_repeat

    async def pause(self) -> None:
        """Waits before the next attempt, a little longer each time. A jitter, derived from the
        operation's id, prevents operations that conflict from being repeated at the same
        moment."""
        jitter = zlib.crc32(f"{self._seed}{self._failures}".encode()) / 2**32
        max_seconds = min(FIRST_PAUSE_SECONDS * 2**self._failures, LONGEST_PAUSE_SECONDS)
        self._failures += 1
        await asyncio.sleep(max_seconds * (0.25 + 0.75 * jitter))

    def limit(self) -> asyncio.Timeout:
        """Returns a context that ends an attempt at the deadline."""
        remaining_seconds = max(0.0, self.deadline - time.monotonic())
        return asyncio.timeout(remaining_seconds)


async def read(
    call: Callable[[], Awaitable[T]], within_seconds: float = UNKNOWN_AFTER_SECONDS
) -> T:
    """Calls `call`, which reads, repeatedly while the server can't answer, such as during a
    change of the primary, and returns its result.

    Raises Unavailable when there is no answer within `within_seconds` seconds.
    """
    attempts = Attempts("read", within_seconds)
    while True:
        try:
            async with attempts.limit():
                return await call()
        except (PyMongoError, TimeoutError) as error:
            if attempts.record_failure(error):
                raise unavailable(error) from error
        await attempts.pause()


def is_unsent(error: Exception) -> bool:
    """Returns whether nothing was sent: no server was found, or the client is closed."""
    return isinstance(
        error, ServerSelectionTimeoutError | WaitQueueTimeoutError | InvalidOperation
    )


def is_transient(error: Exception) -> bool:
    """Returns whether the cause of the error is transient, so that the same command may succeed
    when it is sent again."""
    if isinstance(error, TimeoutError | ConnectionFailure | WriteConcernError):
        return True
    return isinstance(error, PyMongoError) and (
        error.has_error_label("RetryableWriteError")
        or error.has_error_label("TransientTransactionError")
        or error.has_error_label("UnknownTransactionCommitResult")
        or has_weak_acknowledgement(error)
        or getattr(error, "code", None) in (_SNAPSHOT_UNAVAILABLE, _NOT_LINEARIZABLE)
    )


def is_refused(error: Exception) -> bool:
    """Returns whether the server refused the command and applied nothing of it."""
    return isinstance(error, OperationFailure) and not is_transient(error)


def has_weak_acknowledgement(error: Exception) -> bool:
    """Returns whether a bulk command was not acknowledged by a majority in time: it may be rolled
    back.
    """
    return isinstance(error, BulkWriteError) and bool(error.details.get("writeConcernErrors"))


def check_acknowledged(reply: dict[str, Any], errors: list[dict[str, Any]]) -> None:
    """Raises the error of a driver for a write command that a majority did not acknowledge in
    time, or during which another server became the primary."""
    if any(error.get("code") in _PRIMARY_CHANGES for error in errors):
        raise NotPrimaryError("the server gave up being the primary", reply)
    if "writeConcernError" in reply:
        raise WriteConcernError("the write was not acknowledged", None, reply)


def unavailable(error: Exception, hosts: str = "") -> Unavailable:
    """Returns the exception Unavailable with a message of one sentence.

    The driver's message, which may hold its whole topology or a command, is only its cause.
    """
    result = Unavailable(_sentence(error, hosts))
    result.__cause__ = error
    return result


def _sentence(error: Exception, hosts: str) -> str:
    if isinstance(error, OperationFailure):
        if error.code == _SNAPSHOT_TOO_OLD:
            return (
                "the snapshot is older than the server keeps (minSnapshotHistoryWindowInSeconds)"
            )
        name = (error.details or {}).get("codeName", type(error).__name__)
        return f"MongoDB refuses: {name} (error {error.code})"
    location = f" at {hosts}" if hosts else ""
    return f"MongoDB gives no answer{location} ({type(error).__name__})"


def refusal(collection: str, details: dict[str, Any]) -> StorageError:
    """Returns the error with which a unit is refused, for the server's write error (`details`)
    about a write to this collection."""
    code = details.get("code")
    if code == _DUPLICATE_KEY:
        return Conflict(collection, taken_field(details))
    if code in _IMPOSSIBLE:
        return InvalidValue(f"{collection}: no record can take this change (error {code})")
    return Unavailable(f"{collection}: the server refuses the write (error {code})")


def taken_field(details: dict[str, Any]) -> str:
    """Returns the name of the field of the unique index that a duplicate key error (`details`)
    names."""
    field = next(iter(details.get("keyPattern") or {"_id": 1}))
    return "id" if field == "_id" else str(field)


def duplicate(error: DuplicateKeyError) -> dict[str, Any]:
    """Returns a duplicate key error as one entry of a bulk command's write errors."""
    return {**(error.details or {}), "code": _DUPLICATE_KEY}
