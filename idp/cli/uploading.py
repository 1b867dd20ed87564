"""A package that is sent to a service: as a stream, with what is wished for in its envelope."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Final

from idp.cli.backends import Document
from idp.cli.command import BY_ADDRESS
from idp.cli.progress import Progress
from idp.cli.remote import Remote
from idp.errors import ConfigError
from idp.transfer.surface import Surface

_CHUNK: Final = 1024 * 1024
_IMPORT: Final = BY_ADDRESS["POST /admin/v1/import"]


async def upload(backend: Remote, file: Path, wishes: Mapping[str, object]) -> Document:
    """What the import of the package answers. Raises IdpError, ConfigError."""
    start, rest = await asyncio.to_thread(_opened, file, wishes)
    size = await asyncio.to_thread(os.path.getsize, file)
    with closing(Progress("bytes")) as progress:
        octets = _octets(file, start, rest, progress)
        return await backend.upload(_IMPORT, octets, len(start) + size - rest)


def _octets(file: Path, start: bytes, rest: int, progress: Progress) -> Iterator[bytes]:
    yield start
    size = file.stat().st_size
    with file.open("rb") as source:
        source.seek(rest)
        while chunk := source.read(_CHUNK):
            yield chunk
            progress.show(source.tell(), size)


def _opened(file: Path, wishes: Mapping[str, object]) -> tuple[bytes, int]:
    """The beginning of the envelope with the wishes in it, and where the rest of the file begins.

    What is no object is sent as it is: the service says what is wrong with it.
    """
    surface = Surface()
    with file.open("rb") as source:
        head = source.read(_CHUNK)
        surface.feed(head)
        while chunk := source.read(_CHUNK):
            surface.feed(chunk)
    at = len(head) - len(head.lstrip(b" \t\r\n"))
    document = surface.read()
    if head[at : at + 1] != b"{" or not isinstance(document, dict):
        return b"", 0
    said = document.keys() & {name for name, value in wishes.items() if value is True}
    if said:
        raise ConfigError([f"the package says itself what {', '.join(sorted(said))} is"])
    ours = {name: value for name, value in wishes.items() if name not in document}
    members = [f"{json.dumps(name)}:{json.dumps(value)}" for name, value in ours.items()]
    comma = "," if members and document else ""
    return ("{" + ",".join(members) + comma).encode(), at + 1
