"""Settings that change while the service runs: on SIGHUP they are read again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import msgspec
from msgspec import Struct

from idp.config.settings import TYPES, Config
from idp.foundation import logs
from idp.foundation.errors import ConfigError

# From these, nothing was derived at the start.
RELOADED: Final = (
    "log_level",
    "trusted_proxies",
    "outgoing_networks",
    "max_connections",
    "first_request_seconds",
)

_log: Final = logs.logger(__name__)


class Reload(Struct, frozen=True):
    """The names of settings that have changed, and of those of them that need a restart."""

    changed: Sequence[str]
    need_restart: Sequence[str]


class Reloader:
    """Reads the settings again. `load` raises ConfigError where they are not valid."""

    def __init__(self, started_with: Config, load: Callable[[], Config]) -> None:
        self._started_with = started_with
        self._last = started_with
        self._load = load

    @property
    def log_level(self) -> str:
        """The level that was read last."""
        return self._last.log_level

    def applied_to(self, running: Config) -> Config:
        """Returns the settings of a running service with those that were read last, as far as they
        can change.
        """
        return msgspec.structs.replace(
            running, **{name: getattr(self._last, name) for name in RELOADED}
        )

    def read(self) -> Reload:
        """Reads the settings; returns what has changed. Raises ConfigError."""
        config, before = self._load(), self._last
        self._last = config
        return Reload(
            changed=[name for name in RELOADED if _differ(name, config, before)],
            need_restart=[
                name
                for name in TYPES
                if name not in RELOADED and _differ(name, config, self._started_with)
            ],
        )


def read(reloader: Reloader) -> Reload | None:
    """Reads the settings and applies the log level; returns None, with a line in the log, if they
    can't be used.
    """
    try:
        reload = reloader.read()
    except ConfigError as error:
        _log.error("the settings can't be used; those before stay in force", cause=str(error))
        return None
    except Exception as error:  # such a file must not end a service that runs
        _log.error("the settings can't be used; those before stay in force", exc_info=error)
        return None
    logs.set_level(reloader.log_level)
    return reload


def read_and_report(reloader: Reloader) -> Reload | None:
    """Reads the settings as `read` does, and logs what has changed."""
    reload = read(reloader)
    if reload is not None:
        _log.info("reloaded", changed=list(reload.changed))
        if reload.need_restart:
            _log.warning(
                "settings that changed need a restart", settings=list(reload.need_restart)
            )
    return reload


def _differ(name: str, one: Config, other: Config) -> bool:
    return bool(getattr(one, name) != getattr(other, name))
