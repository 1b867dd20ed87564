"""Packages in object storage: read from a bucket of Google Cloud Storage, and written to one.

An object is read completely and unchanged: one generation of it, with its size and its checksum
verified. An object is written completely or not at all, and never overwrites another.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from idp.foundation import logs
from idp.foundation.errors import Busy, FieldProblem
from idp.service import Service
from idp.transfer.bucket.errors import ObjectStorageFailed
from idp.transfer.bucket.location import ObjectLocation

if TYPE_CHECKING:
    from idp.transfer.bucket.google_storage import GoogleBucket

MAX_AT_ONCE: Final = 3  # transfers per process: each occupies a thread
_BUSY_SECONDS: Final = 30

_turns: Final = threading.BoundedSemaphore(MAX_AT_ONCE)
_log: Final = logs.logger(__name__)
_NOT_INSTALLED: Final = "needs the extra gcs, which is not installed: pip install 'idp[gcs]'"


async def fetch(
    service: Service, place: ObjectLocation, into: Path, seconds: float, most: int
) -> None:
    """Reads the object at `place`, of up to `most` bytes, into the new file `into`.

    Raises ObjectStorageFailed if this fails or takes longer than `seconds`, at most about a second
    later; Busy if too many transfers are running. In both cases the file does not exist.
    Cancellation aborts the transfer.
    """
    await _with(service, place, seconds, lambda bucket: bucket.fetch(place.path, into, most))


async def put(service: Service, place: ObjectLocation, file: Path, seconds: float) -> None:
    """Stores a file as the object at `place`, where none may exist yet.

    Raises ObjectStorageFailed if this fails or takes longer than `seconds`, at most about a second
    later; Busy if too many transfers are running. If the response to the last chunk is lost, the
    object may exist all the same; it is complete then. Cancellation aborts the transfer.
    """
    await _with(service, place, seconds, lambda bucket: bucket.put(place.path, file))


async def _with(
    service: Service, place: ObjectLocation, seconds: float, do: Callable[[GoogleBucket], None]
) -> None:
    leaving = threading.Event()

    def work() -> None:
        # Imported here, because the library is an optional extra.
        from idp.transfer.bucket.google_storage import opened

        with _turn(), opened(service.config.gcs_endpoint, place, seconds, leaving) as bucket:
            do(bucket)

    try:
        await _finished(work, leaving)
    except ImportError:
        problem = FieldProblem("object_storage.not_installed", "", _NOT_INSTALLED)
        raise ObjectStorageFailed(problem) from None
    except ObjectStorageFailed as error:
        _log.warning("object storage failed", slug=error.error_code, cause=error.cause)
        raise


@contextmanager
def _turn() -> Iterator[None]:
    """Reserves one of the concurrent transfers. Raises Busy."""
    if not _turns.acquire(blocking=False):
        raise Busy("other packages are on their way just now", retry_after_seconds=_BUSY_SECONDS)
    try:
        yield
    finally:
        _turns.release()


async def _finished(work: Callable[[], None], leaving: threading.Event) -> None:
    """Runs the work in a thread.

    A cancellation aborts it and waits for its end, because the file that it writes to may be
    removed afterwards.
    """
    task = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        leaving.set()
        await asyncio.gather(task, return_exceptions=True)
        raise
