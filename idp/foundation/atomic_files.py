"""Files that hold secrets: written whole or not at all, and nobody else's to read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def new_file(path: Path, draft_id: str, *, replaces: bool = False) -> Iterator[BinaryIO]:
    """A file of mode 0600 that has its name only once the block has ended, and then for good.

    Until then it is a draft beside it, `.NAME.<draft_id>`, which only a kill leaves behind. Raises
    FileExistsError where there is such a file and the new one does not replace it; OSError.
    """
    draft = path.with_name(f".{path.name}.{draft_id}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if replaces:
            draft.replace(path)
        else:
            _name(draft, path)
    finally:
        draft.unlink(missing_ok=True)
        _sync_directory(path.parent)


def _name(draft: Path, path: Path) -> None:
    """Give the draft its name, unless somebody has it."""
    try:
        os.link(draft, path)
    except FileExistsError:
        raise
    except OSError:  # not every file system has hard links
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        draft.replace(path)


def _sync_directory(directory: Path) -> None:
    """Make the new name survive a power failure."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
