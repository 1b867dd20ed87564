"""The start of the service: opening it, and creating what is missing."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from idp import test_mode
from idp.audit import retention
from idp.config.settings import Config
from idp.foundation import logs, tracing
from idp.foundation.clock import Clock, ShiftedClock, SystemClock
from idp.foundation.errors import ConfigError, NotFound
from idp.foundation.metrics import store_calls
from idp.foundation.metrics.request_costs import StoreCosts
from idp.foundation.private_files import new_file
from idp.foundation.randomness import Random, SequentialIds, SystemRandom
from idp.keys.key_ring import KeyRing
from idp.passwords import breached
from idp.passwords.breached import BreachedPasswords
from idp.passwords.hashing import Hasher
from idp.records import ALL, INSTANCE_ID, INSTANCES, SCHEMA
from idp.service import Service
from idp.start import admin_pat, demo_setup, first_start, master_keys
from idp.start import checks as start_checks
from idp.start.announcement import SQLITE, Start, absolute_store_url
from idp.start.checks import DEFAULT_LAUNCH, Launch
from idp.start.demo_setup import DemoDescription
from idp.usage import flushing as usage_flushing
from storage import (
    META,
    SCHEMA_ID,
    Collection,
    MetaRecord,
    StorageError,
    Store,
    open_store,
)


async def open_service(
    config: Config, launch: Launch = DEFAULT_LAUNCH, *, must_exist: bool = False
) -> Service:
    """Opens the store with the master key, and returns the service for this process.

    Creates no installation, but with `must_exist` there must be one. `launch` has the options of
    `idp serve`. Raises ConfigError, also where the key is not the store's, or an empty store
    has one that is not new; StorageError; NotFound if `must_exist` and there is no installation.
    """
    clock = ShiftedClock() if config.test else SystemClock()
    random = SystemRandom()
    logs.configure(config.log_level, config.log_format, clock=clock)
    has_key = _prepare_opening(config, random, must_exist=must_exist)
    new_id = SequentialIds(random).id
    observers = [StoreCosts(), *store_calls.observers(), *tracing.observers()]
    # A process whose test clock is still ahead would remove what a reset has restored.
    removal = {"removal_now": SystemClock().now} if config.test else {}
    store = open_store(config.store, now=clock.now, new_id=new_id, observers=observers, **removal)
    await store.open((*ALL, *test_mode.COLLECTIONS) if config.test else ALL, SCHEMA)
    try:
        instance = await store.get(INSTANCES, INSTANCE_ID)
        if instance is None:
            if must_exist:
                raise _no_installation(config.store)
            start_checks.begin_installation(config, launch, random, has_key=has_key)
        given_keys = master_keys.given(config, random, is_new=instance is None)
        key = master_keys.opened(config, random, instance, given_keys)
    except BaseException:
        await store.close()
        raise
    start_checks.warn(launch, is_new=instance is None)
    service = Service(
        config=config,
        store=store,
        clock=clock,
        random=random,
        master_key=key,
        hasher=Hasher(config, random),
        keys=KeyRing(store, key, clock, _longest_token_seconds(config)),
        breached_passwords=breached_passwords(config),
    )
    if config.test:
        await test_mode.synchronise(service)
    return service


def _prepare_opening(config: Config, random: Random, *, must_exist: bool) -> bool:
    """Prepares the opening of the store; returns whether there is a key that is not new.

    A key that can't be used is refused before a file of the store is created. Raises as
    `open_service`.
    """
    if must_exist:
        check_store_exists(config.store)
    has_key = start_checks.has_used_key(config)
    if has_key:
        master_keys.given(config, random)
    if not must_exist:
        make_data_dir(config.data_dir)
    return has_key


def _longest_token_seconds(config: Config) -> int:
    return max(
        config.access_token_seconds, config.jwt_access_token_seconds, config.id_token_seconds
    )


@asynccontextmanager
async def open_unchecked(
    url: str, collections: Sequence[Collection[Any]], clock: Clock
) -> AsyncIterator[Store]:
    """Provides the store at `url` within the block, opened for these collections without a check
    or an upgrade of its schema. Raises StorageError.
    """
    store = open_store(url, now=clock.now, new_id=SequentialIds(SystemRandom()).id)
    await store.open(collections, None)
    try:
        yield store
    finally:
        await store.close()


async def read_schema_version(config: Config) -> MetaRecord:
    """Returns the record of the schema version in the configured store, without creating or
    changing anything. Raises NotFound if there is no installation, and StorageError.
    """
    check_store_exists(config.store)
    async with open_unchecked(config.store, (), SystemClock()) as store:
        record = await store.get(META, SCHEMA_ID)
    if record is None:
        raise _no_installation(config.store)
    return record


def check_store_exists(store: str) -> None:
    """Checks that opening the store at this URL would not create it. Raises NotFound if it is a
    file that does not exist.
    """
    if start_checks.is_missing(store):
        raise _no_installation(store)


def _no_installation(store: str) -> NotFound:
    return NotFound(
        f"there is no installation in {absolute_store_url(store)}; name the service's own with"
        " --data, --store or --config"
    )


def make_store_dir(store: str) -> None:
    """Creates the directory of a SQLite store's file; does nothing for other stores. Raises
    ConfigError.
    """
    if store.startswith(SQLITE):
        make_data_dir(Path(store.removeprefix(SQLITE)).parent)


def make_data_dir(path: Path) -> None:
    """Creates the directory `path`, readable only by its owner, if missing. Raises ConfigError."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            [f"the data directory {path} can't be made: {error.strerror}"]
        ) from error


async def close_service(service: Service) -> None:
    """Waits for background tasks, then closes the store and the hashing threads."""
    # Background tasks still use the store.
    await service.background_tasks.finished()
    with suppress(StorageError):  # figures over time are approximate
        await usage_flushing.flush_all(service)
    service.hasher.close()
    await service.store.close()


def breached_passwords(config: Config) -> BreachedPasswords | None:
    """Opens the configured list of breached passwords; returns None if none is configured. Raises
    ConfigError if it is unusable.
    """
    if config.breached_passwords is None:
        return None
    path = Path(config.breached_passwords)
    try:
        return BreachedPasswords(path, config.breached_passwords_min_count)
    except OSError as error:
        raise ConfigError(
            [f"breached_passwords: {path} can't be read: {error.strerror}"]
        ) from error
    except breached.UnusableList as error:
        raise ConfigError(
            [
                f"breached_passwords: {path} can't be used: {error}; give a sorted file of"
                " SHA1:COUNT lines, as the downloader of Pwned Passwords writes it"
            ]
        ) from error


async def make_ready(service: Service) -> Start:
    """Creates what is missing of the installation, such as its first records and the demo, and
    returns the announcement of the start. Raises ConfigError.
    """
    is_first = await service.store.get(INSTANCES, INSTANCE_ID) is None
    instance = await first_start.ensure_instance(service)
    config = service.config
    start_checks.end_installation(config)
    start_checks.warn_of_environment(config, service.store)
    demo: DemoDescription | None = None
    if config.is_loopback:
        demo = await demo_setup.ensure(service, instance)
    else:
        # An earlier start may have had a loopback issuer.
        await demo_setup.switch_off(service, instance)
    instance = await first_start.ensure_instance(service)
    await first_start.store_issuer(service, instance)
    await retention.report(service, instance.created_at)
    token = None
    if config.admin_pat is not None:
        path = Path(config.admin_pat)
        token = await admin_pat.ensure(service, instance, _read(path))
        _write_secret(path, token, service.random.id())
    admin = await first_start.describe_admin(service, instance)
    if config.test:
        await test_mode.begin(service)
    return Start(config=config, admin=admin, demo=demo, admin_pat=token, is_first=is_first)


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None


def _write_secret(path: Path, text: str, draft_id: str) -> None:
    """Writes the file with mode 0600, completely or not at all."""
    try:
        with new_file(path, draft_id, replaces=True) as file:
            file.write(f"{text}\n".encode("ascii"))
    except OSError as error:
        raise ConfigError([f"{path} can't be written: {error.strerror}"]) from error
