"""Settings from options of the command line, the environment and the settings file."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Set
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from idp.config import loading as settings
from idp.config import rules as config_rules
from idp.config.loading import Loaded
from idp.config.rules import BrokenRule
from idp.config.settings import Config
from idp.foundation.errors import ConfigError
from idp.start import exit_codes

_ISSUER: Final = frozenset({"issuer"})
_OF_SERVING: Final = frozenset({"host", "insecure_http"})  # a command does not listen for requests
F = TypeVar("F", bound=Callable[..., Any])

STORE_OPTIONS: Final = ("data", "store", "config_file")  # the parameters of `store_flags`
_STORE_FLAGS = (
    click.option("--data", metavar="DIR", help="Directory of the store and the master key."),
    click.option("--store", metavar="URL", help="sqlite:///PATH, memory:// or mongodb://…"),
    click.option(
        "--config",
        "config_file",
        metavar="FILE",
        type=click.Path(path_type=Path),
        help="Settings as TOML.",
    ),
)


def store_flags(command: F) -> F:
    """Adds to a command the options by which every command that works on a store finds it, and
    returns the command.
    """
    for flag in reversed(_STORE_FLAGS):
        command = flag(command)
    return command


def load(
    config_file: Path | None,
    flags: dict[str, object],
    rules: Callable[[Config], Iterable[BrokenRule]] = config_rules.check,
    known_later: Set[str] = frozenset(),
) -> Loaded:
    """Returns the settings from the options `flags`, the environment and the settings file; if
    they are invalid or `rules` yields a broken rule, prints the reasons and ends the program with
    code 2.

    `known_later` names settings that the caller sets and checks itself, as their values are in the
    store.
    """
    try:
        return settings.load(flags, file=config_file, rules=rules, known_later=known_later)
    except ConfigError as error:
        for problem in error.problems:
            print(f"idp: {problem}", file=sys.stderr)
        raise SystemExit(exit_codes.USAGE) from error


def load_for_store(config_file: Path | None, flags: dict[str, object]) -> Loaded:
    """Returns the settings of a command that opens the store; the caller completes them by
    `config_for_store` once the store is read.

    Ends the program as `load` does, but does not check yet whether an issuer is missing.
    """
    return load(config_file, flags, known_later=_ISSUER)


def config_for_store(loaded: Loaded, last_issuer: str) -> Config:
    """Returns the settings that `load_for_store` returned, completed by `last_issuer`, the issuer
    that the store was last served with, if they have no issuer; an empty text means that it is
    unknown.

    Warns on stderr if another issuer is configured. Raises ConfigError.
    """
    if loaded.origins["issuer"] != "default":
        _warn_of_another(loaded, last_issuer)
        return loaded.config
    config = loaded.with_issuer(last_issuer) if last_issuer else loaded.config
    problems = [
        each.text
        for each in config_rules.check(config)
        if "issuer" in each.names and not (last_issuer and _OF_SERVING & set(each.names))
    ]
    if problems:
        raise ConfigError(problems)
    return config


def _warn_of_another(loaded: Loaded, last_issuer: str) -> None:
    if last_issuer and last_issuer != loaded.config.issuer:
        print(
            f"idp: warning: the issuer is {loaded.config.issuer} ({loaded.origins['issuer']}),"
            f" and this store was last served with {last_issuer}",
            file=sys.stderr,
        )
