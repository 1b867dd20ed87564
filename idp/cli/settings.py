"""Settings from the command line's flags, the environment and the settings file."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import click

from idp import config_loading as settings
from idp import config_rules, exits
from idp.config import Config
from idp.config_loading import Loaded
from idp.config_rules import Broken
from idp.errors import ConfigError

F = TypeVar("F", bound=Callable[..., Any])

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
    """The flags of every command that opens the store."""
    for flag in reversed(_STORE_FLAGS):
        command = flag(command)
    return command


def load(
    config_file: Path | None,
    flags: dict[str, object],
    rules: Callable[[Config], Iterable[Broken]] = config_rules.check,
) -> Loaded:
    """The settings; ends the program with code 2 and every problem when they can't be used."""
    try:
        return settings.load(flags, file=config_file, rules=rules)
    except ConfigError as error:
        for problem in error.problems:
            print(f"idp: {problem}", file=sys.stderr)
        raise SystemExit(exits.USAGE) from error
