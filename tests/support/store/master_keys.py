"""Replacements of the master key for tests: processes that are given keys, and all of the work."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from msgspec import structs

from idp.foundation import base64url
from idp.foundation.randomness import SystemRandom
from idp.keys.key_ring import KeyRing
from idp.keys.master_key import MasterKey
from idp.records import INSTANCE_ID, INSTANCES
from idp.records.instance import MasterKeyReplacement
from idp.start import master_keys, resealing
from tests.support.store.backups import master_key_of

NEW = bytes(range(100, 132))


def write(path, key: bytes) -> None:
    path.touch(0o600)
    path.write_bytes(base64url.encode(key).encode() + b"\n")


def give(directory, present: bytes, *old: bytes) -> dict:
    """Writes the files of these keys; returns the settings that name them."""
    directory.mkdir(mode=0o700, exist_ok=True)
    write(directory / "master.key", present)
    for number, key in enumerate(old):
        write(directory / f"old-{number}", key)
    files = tuple(str(directory / f"old-{number}") for number in range(len(old)))
    return {"data": str(directory), "old_master_key_files": files}


async def instance_of(service):
    return await service.store.get(INSTANCES, INSTANCE_ID)


async def process(service, directory, *keys: bytes):
    """Another process over the same store, which is given these keys: the present one first."""
    config = structs.replace(service.config, **give(directory, *keys))
    return with_keys(replace(service, config=config), await instance_of(service))


def with_keys(service, instance):
    given = master_keys.given(service.config, service.random)
    key = master_keys.opened(service.config, service.random, instance, given)
    return replace(service, master_key=key, keys=KeyRing(service.store, key, service.clock, 60))


async def restart(service, directory, *keys: bytes) -> None:
    """What the running service would be after a restart with these keys."""
    other = await process(service, directory, *keys)
    for name in ("config", "master_key", "keys"):
        object.__setattr__(service, name, getattr(other, name))  # it is frozen


async def begun(service, directory, new: bytes = NEW) -> None:
    """The service is restarted with a new key beside its own, which is put in charge."""
    await restart(service, directory, new, master_key_of(service))
    await master_keys.follow(service)


def waiting(service) -> timedelta:
    """How long records wait for being encrypted again."""
    now = service.clock.now()
    return (
        resealing.begins_at(service.config, MasterKeyReplacement(old_key_check="", began_at=now))
        - now
    )


async def done(server, service=None) -> None:
    """Waits until records may be encrypted again, and encrypts all of them."""
    service = service or server.service
    server.clock.advance(waiting(service))
    while await resealing.has_work(service):
        await resealing.reseal(service)


def alone(key: bytes, root: bytes) -> MasterKey:
    """A master key that opens nothing else."""
    return MasterKey(key, SystemRandom(), mac_root=root)


LONG = timedelta(days=30)
