"""The reasons for which `idp serve` refuses to start, other than the settings.

These are files that other users can read, and an empty store with a key that is not new. Such a
store is most often a volume that is not mounted: a new installation in it would look like the old
one, with none of its users.
"""

from __future__ import annotations

import shlex
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec import Struct

from idp.config import rules as config_rules
from idp.config import urls
from idp.config.rules import BrokenRule
from idp.config.settings import Config
from idp.foundation import logs
from idp.foundation.errors import ConfigError
from idp.foundation.private_files import new_file
from idp.foundation.randomness import Random
from idp.keys.key_files import KEY_FILE
from idp.mail import sms_hook, smtp
from idp.start import traces
from storage import Store

# Next to a key that the first start has created, until that start is complete.
MARKER: Final = ".first-start"
_SQLITE: Final = "sqlite:///"
_log = logs.logger(__name__)


class Launch(Struct, frozen=True):
    """The options of `idp serve` that are not settings: whether the operator declared the store
    new, and the command line for messages.
    """

    new_store: bool = False  # the installation may be created with an existing key
    command: str = "idp serve"  # the command line, without what --new-store adds to it


DEFAULT_LAUNCH: Final = Launch()


def check(config: Config, launch: Launch) -> Iterator[BrokenRule]:
    """Yields all reasons to refuse a start that are known before the store is opened."""
    yield from config_rules.check(config)
    yield from _admin_pat(config)
    if not launch.new_store and has_used_key(config) and is_missing(config.store):
        yield BrokenRule(_key_settings(config), _empty(config), _fix_for_empty(launch))


def has_used_key(config: Config) -> bool:
    """Returns whether an installation may exist that was created with the current master key: one
    is configured, or the data directory has one that no interrupted first start left behind.

    Always false with `test` and for a store in memory, which are empty at each start. A caller
    that looks for the installation after this call also finds one that another process has
    completed meanwhile.
    """
    if config.test or config.is_in_memory:
        return False
    if config.master_key or config.master_key_file:
        return True
    return (config.data_dir / KEY_FILE).exists() and not _marker(config).exists()


def begin_installation(config: Config, launch: Launch, random: Random, *, has_key: bool) -> None:
    """Stores a file in the data directory which marks the key about to be created as new, so
    that a start after a kill can continue. `has_key` is what `has_used_key` returned.

    Raises ConfigError if there is a used key, and `launch` does not declare the empty store new.
    """
    if has_key and not launch.new_store:
        raise ConfigError([f"{_empty(config)} {_fix_for_empty(launch)}"])
    if has_key or config.test or config.is_in_memory:
        return
    try:
        with suppress(FileExistsError), new_file(_marker(config), random.id()):
            pass
    except OSError as error:
        message = f"the data directory {config.data_dir} can't be written: {error.strerror}"
        raise ConfigError([message]) from error


def end_installation(config: Config) -> None:
    """Removes the file that `begin_installation` stored, because the key now belongs to an
    installation.
    """
    with suppress(OSError):  # a read-only directory cannot have the marker
        _marker(config).unlink(missing_ok=True)


def warn(launch: Launch, *, is_new: bool) -> None:
    """Logs a warning if `launch` has `--new-store`, unless this start creates the installation
    (`is_new`).
    """
    if launch.new_store and not is_new:
        _log.warning("the store has an installation already: remove --new-store")


def warn_of_environment(config: Config, store: Store) -> None:
    """Logs a warning if passwords may travel unencrypted, and one if the store is in a sharded
    cluster, on which no test runs.
    """
    if _is_unencrypted(config):
        _log.warning(
            "passwords may travel unencrypted: end TLS here (tls_cert, tls_key), or name the proxy"
            " in trusted_proxies",
            host=config.host,
        )
    if store.is_sharded:
        _log.warning("a sharded cluster is not tested: all collections stay on one shard")


def _is_unencrypted(config: Config) -> bool:
    """Returns whether browsers use https, but this service is reachable from other machines
    without TLS and has no trusted proxy that terminates it.
    """
    is_tls_terminated = config.tls_cert is not None or bool(config.trusted_proxies)
    is_local = urls.is_loopback(config.host.lower())
    return config.is_secure and not is_tls_terminated and not is_local


def _admin_pat(config: Config) -> Iterator[BrokenRule]:
    if config.admin_pat is None:
        return
    try:
        mode = stat.S_IMODE(Path(config.admin_pat).stat().st_mode)
    except OSError:
        return  # it does not exist yet; writing it shows whether it can be written
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        yield BrokenRule(
            ("admin_pat",),
            f"the token in {config.admin_pat} is open to others (mode {mode:04o})",
            f"run: chmod 600 {shlex.quote(config.admin_pat)}",
        )


def is_missing(store: str) -> bool:
    """Returns whether the URL of a store names a SQLite file that does not exist."""
    return store.startswith(_SQLITE) and not Path(store.removeprefix(_SQLITE)).exists()


def _key_settings(config: Config) -> tuple[str, ...]:
    names = [name for name in ("master_key", "master_key_file") if getattr(config, name)]
    return ("store", *(names or ["data"]))


def _empty(config: Config) -> str:
    store_url = urls.without_password(config.store)
    return f"the store {store_url} is empty but its key is not new: a volume that is not mounted?"


def _fix_for_empty(launch: Launch) -> str:
    return (
        "mount it; or, to set up a new installation with this key, run:"
        f" {launch.command} --new-store"
    )


def _marker(config: Config) -> Path:
    return config.data_dir / MARKER


def check_files(config: Config) -> None:
    """Checks that the files for mail, text messages and traces can be used. Raises ConfigError."""
    for each in (smtp, sms_hook, traces):
        each.check(config)
