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

MAX_TRANSFERS: Final = 3  # per process: each occupies a thread
_BUSY_SECONDS: Final = 30

_transfer_slots: Final = threading.BoundedSemaphore(MAX_TRANSFERS)
_log: Final = logs.logger(__name__)
_NOT_INSTALLED: Final = "needs the extra gcs, which is not installed: pip install 'idp[gcs]'"


async def fetch(
    service: Service, location: ObjectLocation, target: Path, seconds: float, max_bytes: int
) -> None:
    """Reads the object at `location`, of up to `max_bytes` bytes, into the new file `target`.

    Raises ObjectStorageFailed if this fails or takes longer than `seconds`, at most about a second
    later; Busy if too many transfers are running. In both cases the file does not exist.
    Cancellation aborts the transfer.
    """
    await _transfer(
        service, location, seconds, lambda bucket: bucket.fetch(location.path, target, max_bytes)
    )


async def put(service: Service, location: ObjectLocation, file: Path, seconds: float) -> None:
    """Stores a file as the object at `location`, where none may exist yet.

    Raises ObjectStorageFailed if this fails or takes longer than `seconds`, at most about a second
    later; Busy if too many transfers are running. If the response to the last chunk is lost, the
    object may exist all the same; it is complete then. Cancellation aborts the transfer.
    """
    await _transfer(service, location, seconds, lambda bucket: bucket.put(location.path, file))


async def _transfer(
    service: Service,
    location: ObjectLocation,
    seconds: float,
    operation: Callable[[GoogleBucket], None],
) -> None:
    aborted = threading.Event()

    def work() -> None:
        # Imported here, because the library is an optional extra.
        from idp.transfer.bucket.google_storage import open_bucket

        with (
            _transfer_slot(),
            open_bucket(service.config.gcs_endpoint, location, seconds, aborted) as bucket,
        ):
            operation(bucket)

    try:
        await _run_abortable(work, aborted)
    except ImportError:
        problem = FieldProblem("object_storage.not_installed", "", _NOT_INSTALLED)
        raise ObjectStorageFailed(problem) from None
    except ObjectStorageFailed as error:
        _log.warning("object storage failed", slug=error.error_code, cause=error.cause)
        raise


@contextmanager
def _transfer_slot() -> Iterator[None]:
    """Reserves one of the concurrent transfers. Raises Busy."""
    if not _transfer_slots.acquire(blocking=False):
        raise Busy(
            ("other packages are being transferred at the moment"),
            retry_after_seconds=_BUSY_SECONDS,
        )
    try:
        yield
    finally:
        _transfer_slots.release()


async def _run_abortable(work: Callable[[], None], aborted: threading.Event) -> None:
    """Runs the work in a thread.

    A cancellation aborts it and waits for its end, because the file that it writes to may be
    removed afterwards.
    """
    task = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        aborted.set()
        await asyncio.gather(task, return_exceptions=True)
        raise
