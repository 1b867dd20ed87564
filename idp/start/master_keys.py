"""Which master key is in charge, and its replacement.

The record of the installation names the key in charge, with which every process encrypts. The
settings only begin a replacement, by giving a new key as the present one and the one in charge as
an old one. Every process follows within seconds, and reads with both until all records are
encrypted with the new key (`idp/start/resealing.py`).

`key_check` is the fingerprint of the first key. That of a later one has a prefix, by which an
earlier release, which would compute other MACs, refuses the store.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Final

from idp.config.settings import Config
from idp.foundation import logs
from idp.foundation.clock import SystemTimer, Timer
from idp.foundation.errors import AlreadyRunning, ConfigError, FailedPrecondition, IdpError
from idp.foundation.randomness import Random
from idp.keys import key_files
from idp.keys.master_key import MasterKey, fingerprint
from idp.records import INSTANCE_ID, INSTANCES, Instance
from idp.records.instance import MasterKeyReplacement
from idp.records.sealed_fields import MAC_ROOT
from idp.service import Service
from storage import Stale, StorageError, Update

FOLLOW_SECONDS: Final = 10.0  # after which every process has the key in charge
MAX_BEHIND_SECONDS: Final = 120.0  # less than records wait for being encrypted again
_REREAD_SECONDS: Final = 1.0
_LATER: Final = "2."
_OTHER_KEY: Final = (
    "the store was made with another master key: give the one that belongs to it, as the file"
    " master.key in the data directory or by the setting master_key_file or master_key"
)
_NO_OLD_KEY: Final = (
    "records are still sealed with the former master key: give it, as the file master.key.old in"
    " the data directory or by the setting old_master_key_files"
)
_IN_PROGRESS: Final = (
    "the master key is being replaced already: `idp keys master status` shows how far that is"
)

_log: Final = logs.logger(__name__)


def given(config: Config, random: Random, *, is_new: bool = False) -> list[bytes]:
    """Returns the master keys that the settings and the data directory give: the present one, then
    old ones. With `is_new`, because the store is new, the present one is created if there is none.

    Raises ConfigError.
    """
    present = key_files.master_key(
        config.data_dir,
        random,
        text=config.master_key,
        file=config.master_key_file,
        may_create=is_new,
    )
    return [present, *key_files.old_master_keys(config.data_dir, config.old_master_key_files)]


def in_charge(instance: Instance) -> str:
    """Returns the fingerprint of the key in charge."""
    return instance.key_check.removeprefix(_LATER)


def needed(instance: Instance, keys: Sequence[bytes]) -> list[bytes]:
    """Returns those of `keys` with which the store can be read: the one in charge, then the former
    one while it is replaced. Raises ConfigError if one of them is missing.
    """
    by_fingerprint = {fingerprint(key): key for key in keys}
    if in_charge(instance) not in by_fingerprint:
        raise ConfigError([_OTHER_KEY])
    found = [by_fingerprint[in_charge(instance)]]
    replacement = instance.key_replacement
    if replacement is not None:
        if replacement.old_key_check not in by_fingerprint:
            raise ConfigError([_NO_OLD_KEY])
        found.append(by_fingerprint[replacement.old_key_check])
    return found


def opened(
    config: Config, random: Random, instance: Instance | None, keys: Sequence[bytes]
) -> MasterKey:
    """Returns the master key of a process that is given these keys. Raises ConfigError if they are
    not the store's.
    """
    reread = _GivenKeys(config, random, SystemTimer())
    if instance is None:
        return MasterKey(keys[0], random, others=keys[1:], reread=reread)
    key, *_ = needed(instance, keys)
    root = None
    if instance.sealed_mac_root is not None:
        root = MasterKey(key).open(instance.sealed_mac_root, MAC_ROOT.purpose)
    master_key = MasterKey(key, random, others=keys, mac_root=root, reread=reread)
    master_key.forget(instance.replaced_key_checks)
    return master_key


class _GivenKeys:
    """Reads the keys that the process is given by now, at most once a second: anyone may send
    values that no key opens."""

    def __init__(self, config: Config, random: Random, timer: Timer) -> None:
        self._config, self._random, self._timer = config, random, timer
        self._read_at: float | None = None

    def __call__(self) -> list[bytes]:
        now = self._timer.monotonic()
        if self._read_at is not None and now < self._read_at + _REREAD_SECONDS:
            return []
        self._read_at = now
        return _given_now(self._config, self._random)


def check(instance: Instance, master_key: MasterKey) -> None:
    """Raises ConfigError if the process does not have the keys with which the store can be
    read."""
    replacement = instance.key_replacement
    if not master_key.has(in_charge(instance)):
        raise ConfigError([_OTHER_KEY])
    if replacement is not None and not master_key.has(replacement.old_key_check):
        raise ConfigError([_NO_OLD_KEY])


@asynccontextmanager
async def following(service: Service) -> AsyncIterator[None]:
    """Has the process use the key in charge, as long as the block lasts. One that was stopped, or
    could not read the store, for MAX_BEHIND_SECONDS encrypts nothing until it has read which key
    that is: it may have been replaced meanwhile."""
    follower = _Follower(service)
    service.master_key.seal_while(follower.is_current)
    task = asyncio.create_task(follower.run())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        service.master_key.seal_while(lambda: True)


class _Follower:
    def __init__(self, service: Service) -> None:
        self._service = service
        self._followed_at = service.timer.monotonic()

    def is_current(self) -> bool:
        return self._service.timer.monotonic() < self._followed_at + MAX_BEHIND_SECONDS

    async def run(self) -> None:
        while True:
            await self._service.timer.sleep(FOLLOW_SECONDS)
            try:
                await follow(self._service)
            except StorageError:
                continue  # other background work logs it
            except (IdpError, OSError) as error:
                _log.error("this process can't use the master key in charge", error=str(error))
            else:
                self._followed_at = self._service.timer.monotonic()


async def follow(service: Service) -> None:
    """Uses the key in charge, which another process may have changed; begins a replacement that
    the settings ask for, and removes a former key that nothing needs from the data directory.

    Raises StorageError; ConfigError if the process is not given the key in charge: then it
    encrypts nothing until it is.
    """
    keys = _given_now(service.config, service.random)
    service.master_key.add(keys)
    instance = await service.store.get(INSTANCES, INSTANCE_ID)
    if instance is None:
        return
    if keys and is_asked_for(instance, keys):
        instance = await begin(service, instance, keys[0])
    if not service.master_key.has(in_charge(instance)):
        service.master_key.stop_sealing()
    check(instance, service.master_key)
    service.master_key.use(in_charge(instance))
    service.master_key.forget(instance.replaced_key_checks)
    if _has_unneeded(service, instance):
        await _remove_unneeded(service)


def _given_now(config: Config, random: Random) -> list[bytes]:
    """Returns the keys that the process would be given by a start; none if it would be refused."""
    try:
        return given(config, random)
    except ConfigError:
        return []


def is_asked_for(instance: Instance, keys: Sequence[bytes]) -> bool:
    """Returns whether a process that is given these keys has to replace the one in charge: the
    present one was never used, and the one in charge is there to read with."""
    present, *old = map(fingerprint, keys)
    is_used = present == in_charge(instance) or present in instance.replaced_key_checks
    return instance.key_replacement is None and not is_used and in_charge(instance) in old


async def begin(service: Service, instance: Instance, key: bytes) -> Instance:
    """Puts this key in charge instead of the present one; returns the record of the installation
    as it is then, which another process may have changed. Raises StorageError."""
    service.master_key.add([key])
    new = fingerprint(key)
    changes = {
        "key_check": _LATER + new,
        "key_replacement": MasterKeyReplacement(
            old_key_check=in_charge(instance), began_at=service.clock.now()
        ),
        "sealed_mac_root": service.master_key.root_sealed_with(new, MAC_ROOT.purpose),
    }
    expected = {"key_check": instance.key_check, "key_replacement": None}
    with suppress(Stale):  # another process was faster
        await service.store.commit(Update(INSTANCES, INSTANCE_ID, set=changes, expect=expected))
        _log.info("the master key is being replaced")
    return await service.store.get(INSTANCES, INSTANCE_ID) or instance


async def replace_in_data_dir(service: Service) -> None:
    """Replaces the master key in the data directory by a new one, and begins to use it.

    It can be repeated after an interruption. Raises FailedPrecondition if a replacement is in
    progress; AlreadyRunning, ConfigError, StorageError.
    """
    config, random = service.config, service.random
    try:
        with key_files.locked(config.data_dir):
            instance = await service.store.get(INSTANCES, INSTANCE_ID)
            if instance is None or instance.key_replacement is not None:
                raise FailedPrecondition(_IN_PROGRESS)
            key, *_ = needed(instance, given(config, random))
            key_files.replace(config.data_dir, key, random)
            await begin(service, instance, given(config, random)[0])
    except OSError as error:
        raise ConfigError(
            [f"the files in {config.data_dir} can't be written: {error.strerror}"]
        ) from error


def _has_unneeded(service: Service, instance: Instance) -> bool:
    """Returns whether the data directory has a former key that nothing needs."""
    key = key_files.read_old(service.config.data_dir)
    return key is not None and fingerprint(key) in instance.replaced_key_checks


async def _remove_unneeded(service: Service) -> None:
    """Removes a former key that nothing needs from the data directory.

    Both the file and the record are read within the lock: another replacement may have begun, and
    its former key is needed.
    """
    data_dir = service.config.data_dir
    # Where the directory is read-only, `idp doctor` reminds of the file; where another process has
    # the lock, the next look removes it.
    with suppress(OSError, AlreadyRunning), key_files.locked(data_dir):
        instance = await service.store.get(INSTANCES, INSTANCE_ID)
        if instance is None or not _has_unneeded(service, instance):
            return
        key_files.remove_old(data_dir)
        _log.info("the former master key was removed", file=str(data_dir / key_files.OLD_KEY_FILE))
