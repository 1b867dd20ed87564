"""Packages in object storage: read from a bucket of Google Cloud Storage, and written to one.

What is read is whole and as it was stored: one generation of the object, of its size and with its
checksum. What is written is there as a whole or not at all, and never in place of something else.
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

MAX_AT_ONCE: Final = 3  # of a process: each holds a thread
_BUSY_SECONDS: Final = 30

_turns: Final = threading.BoundedSemaphore(MAX_AT_ONCE)
_log: Final = logs.logger(__name__)
_NOT_INSTALLED: Final = "needs the extra gcs, which is not installed: pip install 'idp[gcs]'"


async def fetch(
    service: Service, place: ObjectLocation, into: Path, seconds: float, most: int
) -> None:
    """Read the object at `place`, of up to `most` octets, into the new file `into`.

    Raises ObjectStorageFailed, about a second after `seconds` at the latest, and Busy: too many
    are under way; then there is no such file. Who is cancelled has cut it.
    """
    await _with(service, place, seconds, lambda bucket: bucket.fetch(place.path, into, most))


async def put(service: Service, place: ObjectLocation, file: Path, seconds: float) -> None:
    """Store a file as the object at `place`, where none may be yet.

    Raises ObjectStorageFailed, about a second after `seconds` at the latest, and Busy: too many
    are under way. When the answer to the last octets is lost, the object may be there; it is
    whole then. Who is cancelled has cut it.
    """
    await _with(service, place, seconds, lambda bucket: bucket.put(place.path, file))


async def _with(
    service: Service, place: ObjectLocation, seconds: float, do: Callable[[GoogleBucket], None]
) -> None:
    leaving = threading.Event()

    def work() -> None:
        from idp.transfer.bucket.google_storage import opened

        with _turn(), opened(service.config.gcs_endpoint, place, seconds, leaving) as bucket:
            do(bucket)

    try:
        await _finished(work, leaving)
    except ImportError:
        problem = FieldProblem("object_storage.not_installed", "", _NOT_INSTALLED)
        raise ObjectStorageFailed(problem) from None
    except ObjectStorageFailed as error:
        _log.warning("object storage failed", slug=error.slug, cause=error.cause)
        raise


@contextmanager
def _turn() -> Iterator[None]:
    """One of the transfers that may be under way. Raises Busy."""
    if not _turns.acquire(blocking=False):
        raise Busy("other packages are on their way just now", retry_after_seconds=_BUSY_SECONDS)
    try:
        yield
    finally:
        _turns.release()


async def _finished(work: Callable[[], None], leaving: threading.Event) -> None:
    """Do it in a thread. When nobody waits for it any more it is cut, and its end waited for:
    what it writes to may be removed then."""
    task = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        leaving.set()
        await asyncio.gather(task, return_exceptions=True)
        raise
