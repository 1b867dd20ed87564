"""Packages in object storage: read from a bucket, and written to one.

An object is read in one answer of the server, to its end. An object is written by one request,
completely or not at all, and never overwrites another.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from idp.foundation import logs
from idp.foundation.errors import Busy
from idp.outgoing.http import may_be_called
from idp.service import Service
from idp.transfer.bucket.errors import (
    ENDPOINT,
    NOT_INSTALLED,
    TIMED_OUT,
    UNREACHABLE,
    ObjectStorageFailed,
)
from idp.transfer.bucket.location import Location

if TYPE_CHECKING:
    from idp.transfer.bucket.client import StorageClient

MAX_TRANSFERS: Final = 3  # per process
_BUSY_SECONDS: Final = 30
# S3 of AWS and Blob Storage of Azure. Other names below these domains belong to customers.
_VENDORS: Final = re.compile(
    r"https://(s3(-fips)?(\.dualstack)?(\.[a-z]{2}(-[a-z]+)+-[0-9])?\.amazonaws\.com(\.cn)?"
    r"|[a-z0-9]{3,24}\.blob\.core\.windows\.net)"
)

_transfer_slots: Final = asyncio.Semaphore(MAX_TRANSFERS)
_log: Final = logs.logger(__name__)


async def check_server(service: Service, location: Location) -> None:
    """Checks that packages may be read from and written to the server of `location`: one of a
    vendor at an address of the public network, or one that the settings name.

    Raises ObjectStorageFailed.
    """
    config, server = service.config, location.server(service.config)
    if server in (*config.object_storage_servers, config.gcs_endpoint):
        return
    if not _VENDORS.fullmatch(server):
        raise ObjectStorageFailed(ENDPOINT)
    host = urlsplit(server).hostname or ""
    try:
        addresses = await service.outgoing.addresses(host)
    except OSError as error:
        raise ObjectStorageFailed(UNREACHABLE, type(error).__name__) from None
    if not all(may_be_called(config, ip_address(address)) for address in addresses):
        raise ObjectStorageFailed(ENDPOINT, f"{host} is in a closed network")


async def fetch(
    service: Service, location: Location, target: Path, seconds: float, max_bytes: int
) -> None:
    """Reads the object at `location`, of up to `max_bytes` bytes, into the new file `target`.

    Raises ObjectStorageFailed if this fails or takes longer than `seconds`; Busy if too many
    transfers are running. In both cases, and if it is cancelled, the file does not exist.
    """
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            async with _transfer(service, location, seconds) as client:
                await client.fetch(location, file, seconds, max_bytes)
    except BaseException:
        os.unlink(target)  # noqa: PTH108 - as it was opened
        raise


async def put(service: Service, location: Location, file: Path, seconds: float) -> None:
    """Stores a file that is not empty as the object at `location`, where none may exist yet.

    Raises ObjectStorageFailed if this fails or takes longer than `seconds`; Busy if too many
    transfers are running. If the response is lost, the object may exist all the same; it is
    complete then. Cancellation aborts the transfer.
    """
    async with _transfer(service, location, seconds) as client:
        await client.put(location, file, seconds)


@asynccontextmanager
async def _transfer(
    service: Service, location: Location, seconds: float
) -> AsyncIterator[StorageClient]:
    """Provides a client of the storage for the block. Raises Busy, ObjectStorageFailed."""
    if _transfer_slots.locked():
        message = "other packages are being transferred at the moment"
        raise Busy(message, retry_after_seconds=_BUSY_SECONDS)
    try:
        async with _transfer_slots, asyncio.timeout(seconds):
            await check_server(service, location)
            # Imported here, because the library is an optional extra.
            from idp.transfer.bucket.client import StorageClient

            yield StorageClient(location.server(service.config))
    except (ObjectStorageFailed, ModuleNotFoundError, TimeoutError) as error:
        failure = _failure(error)
        _log.warning("object storage failed", slug=failure.error_code, cause=failure.cause)
        raise failure from None


def _failure(error: Exception) -> ObjectStorageFailed:
    if isinstance(error, ObjectStorageFailed):
        return error
    return ObjectStorageFailed(TIMED_OUT if isinstance(error, TimeoutError) else NOT_INSTALLED)
