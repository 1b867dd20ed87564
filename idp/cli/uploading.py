"""Uploads a package to a service as a stream, with the import's options in its envelope."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Final

from msgspec import Struct

from idp import api
from idp.cli.document import Document
from idp.cli.progress import Progress
from idp.cli.remote import Remote
from idp.foundation.errors import ConfigError
from idp.transfer.package.envelope_scanner import EnvelopeScanner

_CHUNK: Final = 1024 * 1024
_END_BYTES: Final = 4096
_IMPORT: Final = api.imports.IMPORT
_SHORT_TIMEOUT: Final = "1s"  # the job is polled, so its call need not wait
# The last member of the envelope, in the form in which `idp migrate` and other exports of this
# format write it.
_LAST_TIMEOUT: Final = re.compile(rb',\s*"timeout"\s*:\s*"[^"\\]*"\s*(?=\}\s*\Z)')


class UploadParts(Struct, frozen=True):
    """The parts of a request's body that sends a package: the bytes `start`, the file's bytes from
    the offset `first` to before the offset `last`, and the bytes `end`.
    """

    start: bytes
    first: int
    last: int
    end: bytes

    @property
    def size(self) -> int:
        return len(self.start) + self.last - self.first + len(self.end)


async def upload(backend: Remote, file: Path, options: Mapping[str, bool]) -> Document:
    """Uploads a package with the options of its import, and returns the answer of the import call.
    Raises IdpError, ConfigError.
    """
    try:
        parts = await asyncio.to_thread(upload_parts, file, options)
        with closing(Progress("bytes")) as progress:
            chunks = _chunks(file, parts, progress)
            return await backend.upload(_IMPORT, chunks, parts.size)
    except OSError as error:
        raise ConfigError([f"{file} can't be read: {error.strerror}"]) from error


def _chunks(file: Path, parts: UploadParts, progress: Progress) -> Iterator[bytes]:
    yield parts.start
    with file.open("rb") as source:
        source.seek(parts.first)
        while chunk := source.read(min(_CHUNK, parts.last - source.tell())):
            yield chunk
            progress.show(source.tell(), parts.last)
    yield parts.end


def upload_parts(file: Path, options: Mapping[str, bool]) -> UploadParts:
    """Returns the parts of the request's body: the file, with `options` inserted at the start of
    its outermost object and its own `timeout` removed. Raises ConfigError if the file states one
    of the options itself, and OSError.

    A file that is not a JSON object is sent unchanged, because the service reports what is wrong
    with it.
    """
    scanner = EnvelopeScanner()
    with file.open("rb") as source:
        head = source.read(_CHUNK)
        scanner.feed(head)
        while chunk := source.read(_CHUNK):
            scanner.feed(chunk)
        size = source.tell()
        source.seek(max(0, size - _END_BYTES))
        tail = source.read()
    document = scanner.read()
    # The first byte after the opening brace.
    first = len(head) - len(head.lstrip(b" \t\r\n")) + 1
    if head[first - 1 : first] != b"{" or not isinstance(document, dict):
        return UploadParts(b"", 0, size, b"")
    repeated = sorted(name for name, value in options.items() if value and name in document)
    if repeated:
        raise ConfigError([f"the package itself states {', '.join(repeated)}"])
    # Replaced by a short one, because the job is polled.
    last, end = _without_timeout(tail, size)
    if end:
        del document["timeout"]
    return UploadParts(_envelope_start(document, options), first, last, end)


def _without_timeout(tail: bytes, size: int) -> tuple[int, bytes]:
    """Returns the offset of the file's own timeout, or of its end without one, and the bytes after
    the timeout."""
    match = _LAST_TIMEOUT.search(tail)
    if match is None:
        return size, b""
    return size - len(tail) + match.start(), tail[match.end() :]


def _envelope_start(document: Mapping[str, object], options: Mapping[str, bool]) -> bytes:
    added = {
        name: value
        for name, value in {"timeout": _SHORT_TIMEOUT, **options}.items()
        if name not in document and value
    }
    members = ",".join(f"{json.dumps(name)}:{json.dumps(value)}" for name, value in added.items())
    comma = "," if members and document else ""
    return f"{{{members}{comma}".encode()
