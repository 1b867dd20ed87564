"""The files of the master key: in the data directory, or where the settings name them.

While a key is replaced, the former one is beside the present one, as `master.key.old` in the data
directory or in a file that the setting `old_master_key_files` names.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from idp.foundation import base64url, private_files
from idp.foundation.errors import ConfigError
from idp.foundation.randomness import Random
from idp.keys.master_key import KEY_BYTES

KEY_FILE: Final = "master.key"
OLD_KEY_FILE: Final = "master.key.old"
_MAX_FILE_BYTES: Final = 1024
_MISSING: Final = (
    "the master key {path} is missing, and the store can't be read without the one that it was"
    " made with: restore {path} from the backup, or name the key by the setting master_key_file"
    " or master_key"
)
_FORMAT: Final = "32 random bytes as base64url without padding (43 characters)"


def master_key(
    data_dir: Path,
    random: Random,
    *,
    text: str | None = None,
    file: str | None = None,
    may_create: bool = True,
) -> bytes:
    """Returns the master key: the setting's value `text`, or the content of `file`, or else the
    key in the data directory, where it is created if missing.

    If several processes start concurrently, one creates the key and all use it. Raises
    ConfigError, also if the key is missing and `may_create` is false.
    """
    if text:
        return _parsed(text, "the setting master_key")
    if file:
        return _read(Path(file))
    path = data_dir / KEY_FILE
    try:
        if not path.exists():
            if not may_create:
                raise ConfigError([_MISSING.format(path=path)])
            _create(path, random)
    except OSError as error:
        raise ConfigError(
            [f"the master key {path} can't be made: {error.strerror}; check the directory"]
        ) from error
    return _read(path)


def _read(path: Path) -> bytes:
    text = private_files.read(path, "the master key", _MAX_FILE_BYTES)
    return _parsed(text.decode("ascii", "replace"), f"the master key {path}")


def _parsed(text: str, name: str) -> bytes:
    try:
        key = base64url.decode(text.strip())
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        raise ConfigError([f"{name} must hold {_FORMAT}"])
    return key


def _create(path: Path, random: Random) -> None:
    """Creates the file atomically, and keeps one that another process has created."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):  # another process has created a key, which is used
        _write(path, random.token_bytes(KEY_BYTES), random)


def _write(path: Path, key: bytes, random: Random) -> None:
    with private_files.new_file(path, random.id()) as file:
        file.write(_encoded(key))


def _encoded(key: bytes) -> bytes:
    return base64url.encode(key).encode() + b"\n"


def store(data_dir: Path, key: bytes, random: Random, name: str = KEY_FILE) -> None:
    """Stores this master key in the data directory, as the file `name`. Raises ConfigError if the
    directory has another one.
    """
    path = data_dir / name
    try:
        with contextlib.suppress(FileExistsError):
            _write(path, key, random)
    except OSError as error:
        raise ConfigError([f"the master key {path} can't be made: {error.strerror}"]) from error
    if _read(path) != key:
        raise ConfigError([f"there is another master key in {path}: move it away first"])


def old_master_keys(data_dir: Path, files: Sequence[str]) -> list[bytes]:
    """Returns the keys in `files`, and the former one in the data directory if there is one.
    Raises ConfigError.
    """
    keys = [_read(Path(file)) for file in files]
    path = data_dir / OLD_KEY_FILE
    try:
        keys.append(_read(path))
    except ConfigError:
        if path.exists():  # else it is not there, or was removed just now
            raise
    return keys


@contextlib.contextmanager
def locked(data_dir: Path) -> Iterator[None]:
    """Keeps other processes from changing the key files in the data directory within the block.
    Raises AlreadyRunning, OSError."""
    in_use = "another process changes the master key at this moment: try again when it has ended"
    with private_files.locked(data_dir, in_use):
        yield


def replace(data_dir: Path, in_charge: bytes, random: Random) -> None:
    """Makes a new master key in the data directory, where the one `in_charge` remains as the
    former one.

    At each moment both files together have the key in charge. After an interruption it can be
    called again. It is called within `locked`. Raises ConfigError, OSError.
    """
    path = data_dir / KEY_FILE
    if _read(path) == in_charge:
        _replace(data_dir / OLD_KEY_FILE, in_charge, path.stat(), random)
        _replace(path, random.token_bytes(KEY_BYTES), path.stat(), random)


def _replace(path: Path, key: bytes, owner: os.stat_result, random: Random) -> None:
    """Writes a key file, which gets the owner of the present one: the command may run as root, and
    the service does not."""
    with private_files.new_file(path, random.id(), replaces=True) as file:
        if owner.st_uid != os.geteuid():
            os.fchown(file.fileno(), owner.st_uid, owner.st_gid)
        file.write(_encoded(key))


def create(path: Path, random: Random) -> None:
    """Writes a new master key into a new file. Raises FileExistsError, OSError."""
    _write(path, random.token_bytes(KEY_BYTES), random)


def read_old(data_dir: Path) -> bytes | None:
    """Returns the former key in the data directory; None if there is none. Raises ConfigError."""
    return next(iter(old_master_keys(data_dir, ())), None)


def remove_old(data_dir: Path) -> None:
    """Removes the former key from the data directory. It is called within `locked`. Raises
    OSError."""
    (data_dir / OLD_KEY_FILE).unlink(missing_ok=True)
    private_files.sync_directory(data_dir)
