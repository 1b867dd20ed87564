"""Writes a compact list of breached passwords: 8 bytes per password, instead of 45 or more."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from idp.foundation.private_files import new_file
from idp.passwords.breached import HEADER_BYTES, MAGIC, PREFIX_BYTES, UnusableList

_CHUNK_BYTES: Final = 1 << 16


def compact(
    entries: Iterable[bytes], target: Path, draft_id: str, *, replaces: bool = False
) -> int:
    """Writes a compact list with these hashes to `target`, atomically, and returns the number of
    its entries.

    `entries` are SHA-1 hashes in order (`BreachedPasswords.entries`); `draft_id` is random and
    becomes part of the temporary file's name. Raises UnusableList if the hashes are not in order;
    FileExistsError if the target exists and `replaces` is false; OSError.
    """
    count, previous, chunk = 0, b"", bytearray()
    with new_file(target, draft_id, replaces=replaces) as file:
        file.write(bytes(HEADER_BYTES))
        for entry in entries:
            prefix = entry[:PREFIX_BYTES]
            if prefix < previous:
                raise UnusableList("it is not sorted")
            if prefix == previous and count:
                continue
            previous, count = prefix, count + 1
            chunk += prefix
            if len(chunk) >= _CHUNK_BYTES:
                file.write(chunk)
                chunk.clear()
        file.write(chunk)
        file.seek(0)
        file.write(MAGIC + count.to_bytes(8, "big"))
    return count
