"""Backups of the store that the settings name, and restoring into it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, Final

from msgspec import Struct

from idp import base64url, start, vault
from idp.backup import contents, making, restoring
from idp.backup.contents import COLLECTIONS, Head, Manifest
from idp.backup.restoring import Target
from idp.clock import Clock, SystemClock
from idp.config import Config
from idp.errors import AlreadyExists, ConfigError, NotFound
from idp.ids import Random, SystemRandom
from idp.whole_files import new_file
from storage.filling import Told

_TEMPORARY: Final = "memory://"
Began = Callable[[int], Told]


class Frozen(Struct, frozen=True):
    """A clock that stands still."""

    at: datetime

    def now(self) -> datetime:
        return self.at


async def make(
    config: Config,
    path: Path,
    passphrase: str,
    *,
    replaces: bool,
    told: Told,
    clock: Clock | None = None,
) -> Manifest:
    """Write a backup into a new file, whole or not at all, while the service may go on.

    Raises AlreadyExists, ConfigError, and what `making.write` raises.
    """
    clock, random = clock or SystemClock(), SystemRandom()
    _check_free(path, replaces)
    start.check_is_there(config.store)
    key = start.master_key(config, random, is_new=False)
    try:
        with new_file(path, random.id(), replaces=replaces) as file:
            async with start.as_it_is(config.store, COLLECTIONS, clock) as store:
                return await making.write(
                    store, key, file, passphrase, clock=clock, random=random, told=told
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


def verify(path: Path, passphrase: str) -> tuple[Head, Manifest]:
    """Read a whole backup, and see that this program could restore it.

    Raises NotFound, ConfigError, and what `contents.checked` raises.
    """
    with _opened(path) as file:
        return contents.checked(file, passphrase)


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    try:
        with path.open("rb") as file:
            yield file
    except FileNotFoundError:
        raise NotFound(f"there is no file {path}") from None
    except OSError as error:
        raise ConfigError([f"{path} can't be read: {error.strerror}"]) from error


async def restore(
    config: Config,
    path: Path,
    passphrase: str,
    *,
    invalidates: bool,
    began: Began,
    clock: Clock | None = None,
) -> Head:
    """Restore a backup into the store of the settings, which is empty; the master key too.

    Nothing is written before the backup was read to its end. Raises what `verify` and
    `restoring.restore` raise; ConfigError, where there is another master key.
    """
    clock, random = clock or SystemClock(), SystemRandom()
    _check_lasts(config.store)
    head, manifest = verify(path, passphrase)
    keep_key = _key_keeper(config, base64url.decode(head.master_key), random)
    start.make_data_dir(config.data_dir)
    frozen = Frozen(clock.now())
    async with start.as_it_is(config.store, COLLECTIONS, frozen) as store:
        target = Target(store, frozen, clock, random, began(manifest.total))
        with _opened(path) as file:
            await restoring.restore(
                target, file, passphrase, invalidates=invalidates, keep_key=keep_key
            )
    return head


def _key_keeper(config: Config, key: bytes, random: Random) -> Callable[[], None]:
    """What puts the master key into the data directory, where the settings don't name it.

    Raises ConfigError: there is another one.
    """
    is_given = bool(config.master_key or config.master_key_file)
    if is_given or (config.data_dir / vault.KEY_FILE).exists():
        if start.master_key(config, random, is_new=False) != key:
            raise ConfigError(
                [
                    "the master key of the settings or of the data directory is another one than"
                    " the backup's: let neither the settings nor the directory have one"
                ]
            )
    return lambda: None if is_given else vault.keep(config.data_dir, key, random)


async def copy(source_url: str, target_url: str, told: Told) -> None:
    """Copy a store into an empty one. Raises what `restoring.copy` raises."""
    clock = SystemClock()
    frozen = Frozen(clock.now())
    _check_lasts(target_url)
    start.check_is_there(source_url)
    async with (
        start.as_it_is(source_url, COLLECTIONS, frozen) as source,
        start.as_it_is(target_url, COLLECTIONS, frozen) as store,
    ):
        await restoring.copy(source, Target(store, frozen, clock, SystemRandom(), told))


def _check_lasts(store: str) -> None:
    if store.startswith(_TEMPORARY):
        raise ConfigError(["a store in memory ends with this program: name another one"])
