"""Backups of the configured store, restoring into it, and copies between stores."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, Final

from msgspec import Struct

from idp.audit import verification
from idp.audit.verification import Anchor
from idp.backup import contents, making, restoring
from idp.backup.contents import Head, Manifest
from idp.backup.restoring import RestoreTarget
from idp.config.settings import Config
from idp.foundation import base64url
from idp.foundation.clock import Clock, SystemClock
from idp.foundation.errors import AlreadyExists, ConfigError, NotFound
from idp.foundation.opaque_tokens import Confidential
from idp.foundation.private_files import new_file
from idp.foundation.randomness import Random, SystemRandom
from idp.keys import key_files
from idp.records import ALL
from idp.start import bootstrap, master_keys
from storage.filling import OnProgress

_TEMPORARY: Final = "memory://"
_KEY_FILES: Final = (key_files.KEY_FILE, key_files.OLD_KEY_FILE)
_OTHER_KEY: Final = (
    "the master key in the settings or in the data directory differs from the backup's: remove it"
    " from both, or add the backup's to old_master_key_files"
)
_OTHER_KEYS: Final = (
    "the master key was being replaced when the backup was made, and the settings or the data"
    " directory do not give both of its keys: remove the keys from both, or add the backup's to"
    " old_master_key_files"
)


class FrozenClock(Struct, frozen=True):
    """A clock that always returns the instant `at`."""

    at: datetime

    def now(self) -> datetime:
        return self.at


async def make(
    config: Config,
    path: Path,
    passphrase: str,
    *,
    replaces: bool,
    on_progress: OnProgress,
    clock: Clock | None = None,
) -> Manifest:
    """Writes a backup of the configured store into the new file `path`, completely or not at all,
    while the service may run.

    With `replaces`, the file may exist. Raises AlreadyExists, ConfigError, and the errors of
    `making.write`.
    """
    clock, random = clock or SystemClock(), SystemRandom()
    _check_is_new(path, replaces)
    bootstrap.check_store_exists(config.store)
    keys = master_keys.given(config, random)
    try:
        with new_file(path, random.id(), replaces=replaces) as file:
            async with bootstrap.open_unchecked(config.store, ALL, clock) as store:
                return await making.write(
                    store,
                    keys,
                    file,
                    passphrase,
                    clock=clock,
                    random=random,
                    on_progress=on_progress,
                )
    except FileExistsError:
        raise _already_exists(path) from None
    except OSError as error:
        raise ConfigError([f"{path} can't be written: {error.strerror}"]) from error


def _check_is_new(path: Path, replaces: bool) -> None:
    if path.exists() and not replaces:
        raise _already_exists(path)


def _already_exists(path: Path) -> AlreadyExists:
    return AlreadyExists(f"{path} already exists; --overwrite replaces it")


class VerifiedBackup(Confidential, frozen=True):
    """A backup file that was read to its end and can be restored; `file` is open for that, and
    `passphrase` opens it. `anchors` are the heads of the audit log's streams."""

    head: Head
    manifest: Manifest
    anchors: list[Anchor]
    file: BinaryIO
    passphrase: str


@contextmanager
def verified(path: Path, passphrase: str) -> Iterator[VerifiedBackup]:
    """Provides the backup in the file `path`, after reading it completely and checking that this
    program can restore it.

    Raises NotFound, ConfigError, and the errors of `contents.read_whole`.
    """
    with _opened(path) as file:
        backup = contents.read_whole(file, passphrase)
        anchors = verification.anchors_of(backup.audit_heads)
        yield VerifiedBackup(backup.head, backup.manifest, anchors, file, passphrase)


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except FileNotFoundError:
        raise NotFound(f"there is no file {path}") from None
    except OSError as error:
        raise ConfigError([f"{path} can't be read: {error.strerror}"]) from error


async def restore(
    config: Config,
    backup: VerifiedBackup,
    *,
    invalidates: bool,
    on_progress: OnProgress,
    clock: Clock | None = None,
) -> None:
    """Restores a backup into the configured store, which must be empty, and stores the backup's
    master key.

    `invalidates` is as for `restoring.restore`. Raises its errors; ConfigError if there is another
    master key.
    """
    clock, random = clock or SystemClock(), SystemRandom()
    _check_is_persistent(config.store)
    store_key = _key_storer(config, backup.head, random)
    bootstrap.make_data_dir(config.data_dir)
    frozen = FrozenClock(clock.now())
    # The check has read it to its end.
    backup.file.seek(0)
    async with bootstrap.open_unchecked(config.store, ALL, frozen) as store:
        await restoring.restore(
            RestoreTarget(store, frozen, clock, random, on_progress),
            backup.file,
            backup.passphrase,
            invalidates=invalidates,
            store_key=store_key,
        )


def _key_storer(config: Config, head: Head, random: Random) -> Callable[[], None]:
    """Returns the function that stores the master key of a backup in the data directory, and the
    former one if the key was being replaced, unless they are given already.

    Raises ConfigError if there is another one.
    """
    keys = [base64url.decode(each) for each in (head.master_key, *head.old_master_keys)]
    # A configured key is not stored a second time.
    is_configured = bool(config.master_key or config.master_key_file)
    is_given = is_configured or (config.data_dir / key_files.KEY_FILE).exists()
    if is_given and not set(keys) <= set(master_keys.given(config, random)):
        raise ConfigError([_OTHER_KEYS if head.old_master_keys else _OTHER_KEY])

    def store() -> None:
        for name, key in zip(_KEY_FILES, () if is_given else keys, strict=False):
            key_files.store(config.data_dir, key, random, name)

    return store


async def copy(source_url: str, target_url: str, on_progress: OnProgress) -> None:
    """Copies the store at `source_url` into the empty store at `target_url`.

    Raises ConfigError, and the errors of `restoring.copy`.
    """
    clock = SystemClock()
    frozen = FrozenClock(clock.now())
    _check_is_persistent(target_url)
    bootstrap.check_store_exists(source_url)
    bootstrap.make_store_dir(target_url)
    async with (
        bootstrap.open_unchecked(source_url, ALL, frozen) as source,
        bootstrap.open_unchecked(target_url, ALL, frozen) as store,
    ):
        await restoring.copy(
            source, RestoreTarget(store, frozen, clock, SystemRandom(), on_progress)
        )


def _check_is_persistent(store: str) -> None:
    if store.startswith(_TEMPORARY):
        raise ConfigError(["a store in memory ends with this program: name another one"])
