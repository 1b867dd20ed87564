"""A package on its way in: kept outside of the store until it is whole, in constant memory."""

from __future__ import annotations

import asyncio
import hashlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final

from idp.foundation import base64url
from idp.transfer.package.envelope_scanner import Surface

SMALL_BYTES: Final = 256 * 1024  # a larger one goes to disk, and its rows to another process
_PIECE: Final = 1024 * 1024


class Upload:
    """The body of a call, or a file that is there already (`over`). Nobody else can read it, and
    it is gone with this process. Whoever sent it has `left` when nobody waits for an answer."""

    def __init__(self, file: IO[bytes] | None = None) -> None:
        self.size = 0
        self.left = asyncio.Event()
        self._surface = Surface()
        self._digest = hashlib.sha256()
        self._file = file or tempfile.SpooledTemporaryFile(max_size=SMALL_BYTES)  # noqa: SIM115

    @classmethod
    def over(cls, file: Path) -> Upload:
        """A package that lies in a file, which may be removed then. Raises OSError."""
        upload = cls(file.open("rb"))
        for piece in upload.pieces(_PIECE):
            upload._look_at(piece)
        return upload

    def take(self, octets: bytes) -> None:
        """Keep the next octets. Raises OSError."""
        self._look_at(octets)
        self._file.write(octets)

    def _look_at(self, octets: bytes) -> None:
        self.size += len(octets)
        self._surface.feed(octets)
        self._digest.update(octets)

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

    def let_go(self, *, is_read: bool) -> None:
        """Nobody waits for an answer any more: let go of it, unless it is being read."""
        self.left.set()
        if not is_read:
            self.close()

    def close(self) -> None:
        """Let go of it."""
        self._file.close()
