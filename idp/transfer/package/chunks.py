"""A job's package in the store, cut into parts, so that any process can continue the job."""

from __future__ import annotations

import asyncio
import base64
import zlib
from pathlib import Path
from typing import IO, Final

from idp.foundation.errors import IdpError
from idp.records.jobs import PACKAGE_PARTS, Job, PackagePart
from idp.service import Service
from storage import Delete, Insert
from storage.confirmed_commit import commit_confirmed

PART_BYTES: Final = 1024 * 1024
BATCH_SIZE: Final = 20  # parts in one unit of removals
_LEVEL: Final = 1  # the lowest: packages repeat the same names, so it saves most


class PackageLost(IdpError):
    """The error that a package is no longer in the store, or was never received completely."""

    error_code = "import.package_lost"


async def store(service: Service, job_id: str, n: int, data: bytes) -> None:
    """Stores part number `n` of a job's package. Raises StorageError."""
    # Compression takes milliseconds per part, which would block the event loop.
    content = await asyncio.to_thread(_compressed, data)
    part = PackagePart(id=_id(job_id, n), job_id=job_id, content=content)
    # A repeated insert after a lost answer would conflict with its own record.
    await commit_confirmed(service.store, Insert(PACKAGE_PARTS, part))


async def write(service: Service, job: Job, file: Path) -> None:
    """Writes the package of a job from the store into a file. Raises PackageLost, StorageError."""
    if not job.parts:
        raise _lost()
    with file.open("wb") as into:
        for n in range(job.parts):
            part = await service.store.get(PACKAGE_PARTS, _id(job.id, n))
            if part is None:
                raise _lost()
            await asyncio.to_thread(_unpack, part.content, into)


async def delete(service: Service, job_id: str) -> None:
    """Removes the package of a job from the store, a few parts per unit. Raises StorageError."""
    while True:
        page = await service.store.find(PACKAGE_PARTS, {"job_id": job_id}, limit=BATCH_SIZE)
        if not page.records:
            return
        await service.store.commit(*(Delete(PACKAGE_PARTS, part.id) for part in page.records))


def _id(job_id: str, n: int) -> str:
    return f"{job_id}.{n:06}"


def _compressed(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data, _LEVEL)).decode()


def _unpack(content: str, into: IO[bytes]) -> None:
    into.write(zlib.decompress(base64.b64decode(content)))


def _lost() -> PackageLost:
    return PackageLost("the package doesn't exist, or was never received completely")
