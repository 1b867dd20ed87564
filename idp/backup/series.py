"""A series of backups in one directory, for a timer: each is verified before it gets its name, and
older ones are removed by a retention rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from idp.backup import retention, stores
from idp.backup.contents import Manifest
from idp.backup.retention import Retention
from idp.config.settings import Config
from idp.foundation.clock import Clock, SystemClock
from idp.foundation.errors import AlreadyExists, ConfigError
from idp.foundation.private_files import locked, new_file, sync_directory
from idp.foundation.randomness import SystemRandom
from storage.filling import OnProgress

LAST: Final = "last.json"
LOCK: Final = ".lock"

_NAME_FORMAT: Final = "idp-%Y%m%dT%H%M%SZ.idp"
_NAME_PATTERN: Final = re.compile(r"idp-[0-9]{8}T[0-9]{6}Z\.idp")
_UNVERIFIED: Final = ".unverified-"


class LastBackup(Struct, frozen=True, kw_only=True, rename="camel"):
    """The contents of the file `last.json` in the directory of a series, which describes its
    newest backup: the file's name, its size, the number of records, when it was made and when
    verified."""

    file: str
    made_at: datetime
    verified_at: datetime
    records: int
    bytes: int


class Added(Struct, frozen=True):
    """The backup that was added to a series, and the names of those that were removed."""

    path: Path
    manifest: Manifest
    removed: list[str]


async def add(
    config: Config,
    directory: Path,
    passphrase: str,
    *,
    keep: Retention | None,
    on_progress: OnProgress = lambda n: None,
    clock: Clock | None = None,
) -> Added:
    """Writes a backup of the configured store into the directory, verifies it, names it after the
    instant at which it began, and then removes those that `keep` does not retain.

    Without `keep` no backup is removed, and the new one never is. A process that is killed leaves
    at most an unverified file, which the next call removes. Raises ConfigError if the directory
    can't be used, AlreadyRunning, AlreadyExists, and the errors of `stores.make` and
    `stores.verified`.
    """
    clock = clock or SystemClock()
    with _locked(directory):
        try:
            _remove_drafts(directory)
            made_at = clock.now().astimezone(UTC).replace(microsecond=0)
            path = directory / made_at.strftime(_NAME_FORMAT)
            if path.exists():
                raise AlreadyExists(f"{path} already exists: repeat this a second later")
            manifest = await _write(config, path, passphrase, on_progress, clock)
            _write_last(path, made_at, manifest, clock)
            return Added(path, manifest, _prune(directory, made_at, keep))
        except OSError as error:
            raise ConfigError([f"{directory} can't be used: {error.strerror}"]) from error


@contextmanager
def _locked(directory: Path) -> Iterator[None]:
    """Holds the directory's lock. A directory that does not exist is not made: it may be where a
    disk is not mounted."""
    in_use = f"another backup into {directory} is running"
    with ExitStack() as stack:
        try:
            stack.enter_context(locked(directory / LOCK, in_use, creates=True))
        except OSError as error:
            raise ConfigError([f"{directory} can't be used: {error.strerror}"]) from error
        yield


def _remove_drafts(directory: Path) -> None:
    """Removes the files of processes that were killed; with the lock, no other process writes."""
    for pattern in (f"{_UNVERIFIED}*", f".{_UNVERIFIED}*", f".{LAST}.*"):
        for path in directory.glob(pattern):
            path.unlink(missing_ok=True)


async def _write(
    config: Config, path: Path, passphrase: str, on_progress: OnProgress, clock: Clock
) -> Manifest:
    """Writes a backup under a temporary name, reads it back to its end, and gives it its name."""
    unverified = path.with_name(f"{_UNVERIFIED}{path.name}")
    try:
        manifest = await stores.make(
            config, unverified, passphrase, replaces=False, on_progress=on_progress, clock=clock
        )
        with stores.verified(unverified, passphrase):
            pass  # it raises the reason if this program could not restore the file
        unverified.rename(path)
    finally:
        unverified.unlink(missing_ok=True)
    sync_directory(path.parent)
    return manifest


def _write_last(path: Path, made_at: datetime, manifest: Manifest, clock: Clock) -> None:
    last = LastBackup(
        file=path.name,
        made_at=made_at,
        verified_at=clock.now().astimezone(UTC).replace(microsecond=0),
        records=manifest.total,
        bytes=path.stat().st_size,
    )
    with new_file(path.with_name(LAST), SystemRandom().id(), replaces=True) as file:
        file.write(msgspec.json.format(msgspec.json.encode(last)) + b"\n")


def _prune(directory: Path, newest: datetime, keep: Retention | None) -> list[str]:
    """Removes the backups that are not retained; returns their names, oldest first."""
    if keep is None:
        return []
    paths = {
        instant: each
        for each in directory.iterdir()
        if (instant := _instant(each.name)) is not None
    }
    # Where the clock was set back, the newest by name is not the one that was just verified.
    retained = retention.retained(paths, keep) | {newest}
    removed = [path for instant, path in sorted(paths.items()) if instant not in retained]
    for path in removed:
        path.unlink(missing_ok=True)
    return [path.name for path in removed]


def _instant(name: str) -> datetime | None:
    """Returns the instant of a backup's name; None if it is no file of a series."""
    if _NAME_PATTERN.fullmatch(name) is None:
        return None
    try:
        return datetime.strptime(name, _NAME_FORMAT).replace(tzinfo=UTC)
    except ValueError:  # digits that are no instant
        return None


def read_last(directory: Path) -> LastBackup | None:
    """Returns the newest verified backup of the series in the directory; None if there is none
    yet.

    Raises ConfigError if that can't be read.
    """
    path = directory / LAST
    try:
        return msgspec.json.decode(path.read_bytes(), type=LastBackup)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError([f"{path} can't be read: {error.strerror}"]) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ConfigError([f"{path} does not describe a backup: {error}"]) from None
