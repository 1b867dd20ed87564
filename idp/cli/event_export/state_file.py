"""The state of an export: a file with the cursor after the last event that was written."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from idp.foundation.errors import AlreadyRunning, ConfigError
from idp.foundation.private_files import new_file

_DRAFT: Final = "new"


class _State(Struct, forbid_unknown_fields=True):
    cursor: str


class StateFile:
    """A state file, which this process alone uses while it holds its lock (`locked`)."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> str | None:
        """Returns the stored cursor, None if there is no file. Raises ConfigError if it can't
        be read or is not the state of an export."""
        try:
            return msgspec.json.decode(self.path.read_bytes(), type=_State).cursor
        except FileNotFoundError:
            return None
        except OSError as error:
            raise ConfigError([f"{self.path} can't be read: {error.strerror}"]) from error
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise ConfigError(
                [f"{self.path} is not the state of an export: name another file, or remove it"]
            ) from error

    def store(self, cursor: str) -> None:
        """Replaces the file by one with this cursor, atomically. Raises OSError."""
        draft = self.path.with_name(f".{self.path.name}.{_DRAFT}")
        draft.unlink(missing_ok=True)  # a killed export left it behind
        with new_file(self.path, _DRAFT, replaces=True) as file:
            file.write(msgspec.json.encode(_State(cursor)) + b"\n")


@contextmanager
def locked(path: Path) -> Iterator[StateFile]:
    """Provides the state file within the block, with its lock, which the kernel releases when this
    process ends.

    The lock is on a file beside it, because the state file itself is replaced. Raises
    AlreadyRunning if another process holds the lock; ConfigError.
    """
    lock = path.with_name(f"{path.name}.lock")
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise ConfigError([f"{lock} can't be created: {error.strerror}"]) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield StateFile(path)
    except BlockingIOError:
        raise AlreadyRunning(f"another export uses {path}") from None
    finally:
        os.close(descriptor)
