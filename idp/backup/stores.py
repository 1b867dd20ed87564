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
from idp.foundation.atomic_files import new_file
from idp.foundation.clock import Clock, SystemClock
from idp.foundation.errors import AlreadyExists, ConfigError, NotFound
from idp.foundation.opaque_tokens import Confidential
from idp.foundation.randomness import Random, SystemRandom
from idp.keys import master_key
from idp.records import ALL
from idp.start import bootstrap
from storage.filling import OnProgress

_TEMPORARY: Final = "memory://"


class Frozen(Struct, frozen=True):
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
    _check_free(path, replaces)
    bootstrap.check_is_there(config.store)
    key = bootstrap.master_key(config, random, is_new=False)
    try:
        with new_file(path, random.id(), replaces=replaces) as file:
            async with bootstrap.as_it_is(config.store, ALL, clock) as store:
                return await making.write(
                    store,
                    key,
                    file,
                    passphrase,
                    clock=clock,
                    random=random,
                    on_progress=on_progress,
                )
    except FileExistsError:
        raise _is_there(path) from None
    except OSError as error:
        raise ConfigError([f"{path} can't be written: {error.strerror}"]) from error


def _check_free(path: Path, replaces: bool) -> None:
    if path.exists() and not replaces:
        raise _is_there(path)


def _is_there(path: Path) -> AlreadyExists:
    return AlreadyExists(f"{path} is there already; --overwrite replaces it")


class Verified(Confidential, frozen=True):
    """A backup file that was read to its end and can be restored; `file` is open for that, and
    `passphrase` opens it. `anchors` are the heads of the audit log's streams."""

    head: Head
    manifest: Manifest
    anchors: list[Anchor]
    file: BinaryIO
    passphrase: str


@contextmanager
def verified(path: Path, passphrase: str) -> Iterator[Verified]:
    """Provides the backup in the file `path`, after reading it completely and checking that this
    program can restore it.

    Raises NotFound, ConfigError, and the errors of `contents.checked`.
    """
    with _opened(path) as file:
        found = contents.checked(file, passphrase)
        anchors = verification.anchors_of(found.audit_heads)
        yield Verified(found.head, found.manifest, anchors, file, passphrase)


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except FileNotFoundError:
        raise NotFound(f"there is no file {path}") from None
    except OSError as error:
        raise ConfigError([f"{path} can't be read: {error.strerror}"]) from error


async def restore(
    config: Config,
    backup: Verified,
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
    _check_lasts(config.store)
    keep_key = _key_keeper(config, base64url.decode(backup.head.master_key), random)
    bootstrap.make_data_dir(config.data_dir)
    frozen = Frozen(clock.now())
    # The check has read it to its end.
    backup.file.seek(0)
    async with bootstrap.as_it_is(config.store, ALL, frozen) as store:
        await restoring.restore(
            RestoreTarget(store, frozen, clock, random, on_progress),
            backup.file,
            backup.passphrase,
            invalidates=invalidates,
            keep_key=keep_key,
        )


def _key_keeper(config: Config, key: bytes, random: Random) -> Callable[[], None]:
    """Returns the function that stores the master key in the data directory, unless the settings
    have it.

    Raises ConfigError if there is another one.
    """
    # A configured key is not stored a second time.
    is_given = bool(config.master_key or config.master_key_file)
    if is_given or (config.data_dir / master_key.KEY_FILE).exists():
        if bootstrap.master_key(config, random, is_new=False) != key:
            raise ConfigError(
                [
                    "the master key of the settings or of the data directory is another one than"
                    " the backup's: let neither the settings nor the directory have one"
                ]
            )
    return lambda: None if is_given else master_key.store(config.data_dir, key, random)


async def copy(source_url: str, target_url: str, on_progress: OnProgress) -> None:
    """Copies the store at `source_url` into the empty store at `target_url`.

    Raises ConfigError, and the errors of `restoring.copy`.
    """
    clock = SystemClock()
    frozen = Frozen(clock.now())
    _check_lasts(target_url)
    bootstrap.check_is_there(source_url)
    bootstrap.make_store_dir(target_url)
    async with (
        bootstrap.as_it_is(source_url, ALL, frozen) as source,
        bootstrap.as_it_is(target_url, ALL, frozen) as store,
    ):
        await restoring.copy(
            source, RestoreTarget(store, frozen, clock, SystemRandom(), on_progress)
        )


def _check_lasts(store: str) -> None:
    if store.startswith(_TEMPORARY):
        raise ConfigError(["a store in memory ends with this program: name another one"])
