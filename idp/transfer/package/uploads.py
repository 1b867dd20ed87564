"""A package that is being received: outside of the store until it is complete, in constant
memory.
"""

from __future__ import annotations

import asyncio
import hashlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final

from idp.foundation import base64url
from idp.transfer.package.envelope_scanner import EnvelopeScanner

# A larger one is spooled to disk, and its rows are read in another process.
SMALL_BYTES: Final = 256 * 1024
_PIECE: Final = 1024 * 1024


class Upload:
    """A package in the body of a request, or in an existing file (`over`).

    Only this process can read it, and it is removed when the process ends. `abandoned` is set when
    the client no longer waits for the response.
    """

    def __init__(self, file: IO[bytes] | None = None) -> None:
        self.size = 0
        self.abandoned = asyncio.Event()
        self._envelope = EnvelopeScanner()
        self._digest = hashlib.sha256()
        self._file = file or tempfile.SpooledTemporaryFile(max_size=SMALL_BYTES)  # noqa: SIM115

    @classmethod
    def over(cls, file: Path) -> Upload:
        """Returns the upload of a package in an existing file; the caller may remove the file
        afterwards.

        Raises OSError.
        """
        upload = cls(file.open("rb"))
        for piece in upload.pieces(_PIECE):
            upload._scan(piece)
        return upload

    def take(self, data: bytes) -> None:
        """Appends the next chunk of the body. Raises OSError."""
        self._scan(data)
        self._file.write(data)

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
        """Sets the read position back to the beginning."""
        self._file.seek(0)

    def read(self, size: int, /) -> bytes:
        """Returns the next bytes of the body, at most `size`; none at the end."""
        return self._file.read(size)

    def pieces(self, size: int) -> Iterator[bytes]:
        """Yields the body from its beginning, in pieces of `size` bytes."""
        self.rewind()
        while piece := self.read(size):
            yield piece

    def abandon(self, *, is_read: bool) -> None:
        """Records that the client no longer waits for the response, and closes the upload unless
        `is_read` says that it is still being read.
        """
        self.abandoned.set()
        if not is_read:
            self.close()

    def close(self) -> None:
        """Closes the upload, which removes it."""
        self._file.close()
