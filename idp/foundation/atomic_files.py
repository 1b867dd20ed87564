"""Files that hold secrets: written atomically, and readable by their owner only."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def new_file(path: Path, draft_id: str, *, replaces: bool = False) -> Iterator[BinaryIO]:
    """Opens a file of mode 0600 for writing, which gets the name `path` only at the end of the
    block.

    Until then it is `.NAME.<draft_id>` in the same directory, with a random `draft_id`; only a
    killed process leaves it behind. Raises FileExistsError if the file exists and `replaces` is
    false; OSError.
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
        sync_directory(path.parent)


def _name(draft: Path, path: Path) -> None:
    """Gives the draft its name, unless the name is taken."""
    try:
        os.link(draft, path)
    except FileExistsError:
        raise
    except OSError:  # not every file system has hard links
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        draft.replace(path)


def sync_directory(directory: Path) -> None:
    """Waits until the names of the files in the directory are on disk, so that a file that was
    just created or renamed survives a power failure."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
