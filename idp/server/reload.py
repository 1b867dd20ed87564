"""SIGHUP: the settings are read again, and the log level changes while the service runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from idp.config.settings import TYPES, Config
from idp.foundation import logs
from idp.foundation.errors import ConfigError

_INVALID: Final = "the settings can't be used; the previous ones stay in force"
_log: Final = logs.logger(__name__)


class Reloader:
    """Reads the settings again by `load`, which raises ConfigError where they are not valid, and
    applies the `log_level`; every other setting needs a restart."""

    def __init__(self, started_with: Config, load: Callable[[], Config]) -> None:
        self._started_with = started_with
        self._load = load
        self.log_level = started_with.log_level

    def read(self) -> Config | None:
        """Reads the settings, applies the log level to this process, and returns them; if they
        can't be used, logs why and returns None."""
        try:
            config = self._load()
        except ConfigError as error:
            _log.error(_INVALID, cause=str(error))
            return None
        except Exception as error:  # such a file must not end a service that runs
            _log.error(_INVALID, exc_info=error)
            return None
        self.log_level = config.log_level
        logs.set_level(config.log_level)
        return config

    def read_and_report(self) -> Config | None:
        """Does what `read` does, and also logs whether the log level has changed, and the names of
        the settings that need a restart."""
        before = self.log_level
        config = self.read()
        if config is None:
            return None
        _log.info("reloaded", changed=["log_level"] if config.log_level != before else [])
        need_restart = [
            name
            for name in TYPES
            if name != "log_level" and getattr(config, name) != getattr(self._started_with, name)
        ]
        if need_restart:
            _log.warning("settings that changed need a restart", settings=need_restart)
        return config
