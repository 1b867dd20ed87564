"""A package that is being received: outside of the store until it is complete, in constant
memory.
"""

from __future__ import annotations

import asyncio
import hashlib
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO, Final

from idp.foundation import base64url
from idp.foundation.errors import DiskFull
from idp.transfer.package import scratch
from idp.transfer.package.envelope_scanner import EnvelopeScanner

# A larger one is spooled to disk, and its rows are read in another process.
SMALL_BYTES: Final = 256 * 1024
_CHUNK_BYTES: Final = 1024 * 1024


class Upload:
    """A package in the body of a request, or in an existing file (`from_file`).

    Only this process can read it, and it is removed when the process ends. `abandoned` is set when
    the client no longer waits for the response. `refusal` is not None if the disk had no space for
    the package; `ignored_bytes` is how much of the body arrived after that.
    """

    def __init__(self, file: IO[bytes] | None = None) -> None:
        self.size = 0
        self.refusal: DiskFull | None = None
        self.ignored_bytes = 0
        self.abandoned = asyncio.Event()
        self._envelope = EnvelopeScanner()
        self._digest = hashlib.sha256()
        # What has to be closed with the upload, unless the work that reads it takes it over.
        self.owned = ExitStack()
        self._file = file or tempfile.SpooledTemporaryFile(max_size=SMALL_BYTES)  # noqa: SIM115

    @classmethod
    def from_file(cls, file: Path) -> Upload:
        """Returns the upload of a package in an existing file; the caller may remove the file
        afterwards.

        Raises OSError.
        """
        upload = cls(file.open("rb"))
        for chunk in upload.chunks(_CHUNK_BYTES):
            upload._scan(chunk)
        return upload

    def append(self, data: bytes) -> None:
        """Appends the next chunk of the body, unless the disk had no space for an earlier one.
        Raises OSError."""
        if self.refusal is not None:
            self.ignored_bytes += len(data)
            return
        self._scan(data)
        try:
            with scratch.raising_disk_full():
                self._file.write(data)
        except DiskFull as error:
            self.refusal = error
            self.close()

    def _scan(self, data: bytes) -> None:
        self.size += len(data)
        self._envelope.feed(data)
        self._digest.update(data)

    @property
    def is_small(self) -> bool:
        """Whether the package is too small to be worth another process."""
        return self.size <= SMALL_BYTES

    @property
    def digest(self) -> str:
        """The SHA-256 digest of the body."""
        return base64url.encode(self._digest.digest())

    def envelope(self) -> object:
        """Returns the outermost level of the package's document, without its lists and objects
        (`EnvelopeScanner`). Raises InvalidArgument.
        """
        return self._envelope.read()

    def rewind(self) -> None:
        """Sets the read position back to the beginning. Raises DiskFull."""
        with scratch.raising_disk_full():  # for the last chunks, which may not be in the file yet
            self._file.seek(0)

    def read(self, size: int, /) -> bytes:
        """Returns the next bytes of the body, at most `size`; none at the end."""
        return self._file.read(size)

    def chunks(self, size: int) -> Iterator[bytes]:
        """Yields the body from its beginning, in chunks of `size` bytes."""
        self.rewind()
        while chunk := self.read(size):
            yield chunk

    def abandon(self, *, is_read: bool) -> None:
        """Records that the client no longer waits for the response, and closes the upload unless
        it is still being read (`is_read`).
        """
        self.abandoned.set()
        if not is_read:
            self.close()

    def close(self) -> None:
        """Closes the upload, which removes it, and what it owns."""
        self.owned.close()
        with suppress(OSError):  # no space for the last chunks
            self._file.close()
