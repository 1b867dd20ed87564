"""Settings that change while the service runs: on SIGHUP they are read again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import msgspec
from msgspec import Struct

from idp.config.settings import TYPES, Config
from idp.foundation import logs
from idp.foundation.errors import ConfigError

# No other value was computed from these at the start.
RELOADED: Final = (
    "log_level",
    "trusted_proxies",
    "outgoing_networks",
    "max_connections",
    "first_request_seconds",
)

_log: Final = logs.logger(__name__)


class Reload(Struct, frozen=True):
    """The result of reading the settings again: the names of settings that changed and are
    applied, and of those that differ from the start but are applied only by a restart."""

    changed: Sequence[str]
    need_restart: Sequence[str]


class Reloader:
    """Reads the settings again by `load`, which raises ConfigError where they are not valid, and
    remembers the last valid ones."""

    def __init__(self, started_with: Config, load: Callable[[], Config]) -> None:
        self._started_with = started_with
        self._last_valid = started_with
        self._load = load

    @property
    def log_level(self) -> str:
        """The log level of the settings that were read last."""
        return self._last_valid.log_level

    def applied_to(self, running: Config) -> Config:
        """Returns the settings `running`, in which those that may change while the service runs
        (`RELOADED`) have the values that were read last."""
        return msgspec.structs.replace(
            running, **{name: getattr(self._last_valid, name) for name in RELOADED}
        )

    def read(self) -> Reload:
        """Reads the settings and returns the names of those that have changed. Raises ConfigError,
        after which the previous settings remain."""
        config, before = self._load(), self._last_valid
        self._last_valid = config
        return Reload(
            changed=[name for name in RELOADED if _differ(name, config, before)],
            need_restart=[
                name
                for name in TYPES
                if name not in RELOADED and _differ(name, config, self._started_with)
            ],
        )


def read(reloader: Reloader) -> Reload | None:
    """Reads the settings by `reloader`, applies the log level to this process, and returns what
    has changed; if they can't be used, logs why and returns None."""
    try:
        reload = reloader.read()
    except ConfigError as error:
        _log.error("the settings can't be used; the previous ones stay in force", cause=str(error))
        return None
    except Exception as error:  # such a file must not end a service that runs
        _log.error("the settings can't be used; the previous ones stay in force", exc_info=error)
        return None
    logs.set_level(reloader.log_level)
    return reload


def read_and_report(reloader: Reloader) -> Reload | None:
    """Does what `read` does, and also logs the names of the settings that have changed or need a
    restart."""
    reload = read(reloader)
    if reload is not None:
        _log.info("reloaded", changed=list(reload.changed))
        if reload.need_restart:
            _log.warning(
                "settings that changed need a restart", settings=list(reload.need_restart)
            )
    return reload


def _differ(name: str, current: Config, changed: Config) -> bool:
    return bool(getattr(current, name) != getattr(changed, name))
