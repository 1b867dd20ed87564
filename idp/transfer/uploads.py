"""A package on its way in: kept outside of the store until it is whole, in constant memory."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator
from typing import Final

from idp import base64url
from idp.transfer.surface import Surface

SMALL_BYTES: Final = 256 * 1024  # a larger one goes to disk, and its rows to another process


class Upload:
    """The body of a call. Nobody else can read it, and it is gone with this process."""

    def __init__(self) -> None:
        self.size = 0
        self._surface = Surface()
        self._digest = hashlib.sha256()
        self._file = tempfile.SpooledTemporaryFile(max_size=SMALL_BYTES)  # noqa: SIM115

    def take(self, octets: bytes) -> None:
        """Keep the next octets. Raises OSError."""
        self.size += len(octets)
        self._surface.feed(octets)
        self._digest.update(octets)
        self._file.write(octets)

    @property
    def is_small(self) -> bool:
        """Whether its rows are too few to be worth another process."""
        return self.size <= SMALL_BYTES

    @property
    def digest(self) -> str:
        """The SHA-256 of the body."""
        return base64url.encode(self._digest.digest())

    def surface(self) -> object:
        """The outermost members. Raises InvalidArgument."""
        return self._surface.read()

    def rewind(self) -> None:
        """Begin to read it anew."""
        self._file.seek(0)

    def read(self, octets: int, /) -> bytes:
        """So many octets at most; none at the end."""
        return self._file.read(octets)

    def pieces(self, size: int) -> Iterator[bytes]:
        """The body in pieces."""
        self.rewind()
        while piece := self.read(size):
            yield piece

    def close(self) -> None:
        """Let go of it."""
        self._file.close()
