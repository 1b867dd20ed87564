"""Settings from options of the command line, the environment and the settings file."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Set
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from idp.config import loading as settings
from idp.config import rules as config_rules
from idp.config.loading import LoadedSettings
from idp.config.rules import BrokenRule
from idp.config.settings import Config
from idp.foundation.errors import ConfigError
from idp.start import exit_codes

_ISSUER: Final = frozenset({"issuer"})
# A command does not listen for requests.
_SERVE_SETTINGS: Final = frozenset({"host", "insecure_http"})
F = TypeVar("F", bound=Callable[..., Any])

STORE_OPTIONS: Final = ("data", "store", "config_file")  # the parameters of `store_flags`
_STORE_FLAGS = (
    click.option("--data", metavar="DIR", help="The directory of the store and the master key."),
    click.option(
        "--store", metavar="URL", help="The store: sqlite:///PATH, memory:// or mongodb://…"
    ),
    click.option(
        "--config",
        "config_file",
        metavar="FILE",
        type=click.Path(path_type=Path),
        help="The settings file, in TOML.",
    ),
)

# Options of the commands that create an installation.
issuer_flag = click.option(
    "--issuer", metavar="URL", help="The public URL of the service, for browsers and clients."
)
insecure_http_flag = click.option(
    "--insecure-http",
    is_flag=True,
    default=None,
    help="Allow http on other addresses than loopback.",
)
admin_pat_flag = click.option(
    "--admin-pat", metavar="FILE", help="Write an administrator's token (24 h) to this file."
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
    set_by_caller: Set[str] = frozenset(),
) -> LoadedSettings:
    """Returns the settings from the options `flags`, the environment and the settings file; if
    they are invalid or `rules` yields a broken rule, prints the reasons and ends the program with
    code 2.

    `set_by_caller` names settings that the caller sets and checks itself, as their values are in
    the store.
    """
    try:
        return settings.load(flags, file=config_file, rules=rules, set_by_caller=set_by_caller)
    except ConfigError as error:
        for problem in error.problems:
            print(f"idp: {problem}", file=sys.stderr)
        raise SystemExit(exit_codes.USAGE) from error


def load_for_store(config_file: Path | None, flags: dict[str, object]) -> LoadedSettings:
    """Returns the settings of a command that opens the store; the caller completes them by
    `config_for_store` once the store is read.

    Says on stderr that a service which the environment names is not used, unless an option names
    the store. Ends the program as `load` does, but does not check yet whether an issuer is
    missing.
    """
    if config_file is None and not any(flags.get(name) for name in ("data", "store")):
        _warn_of_unused_url()
    return load(config_file, flags, set_by_caller=_ISSUER)


def config_for_store(loaded: LoadedSettings, last_issuer: str) -> Config:
    """Returns the settings that `load_for_store` returned, completed by `last_issuer`, the issuer
    that the store was last served with, if they have no issuer; an empty text means that it is
    unknown.

    Warns on stderr if another issuer is configured. Raises ConfigError.
    """
    if loaded.origins["issuer"] != "default":
        _warn_of_other_issuer(loaded, last_issuer)
        return loaded.config
    config = loaded.with_issuer(last_issuer) if last_issuer else loaded.config
    problems = [
        each.text
        for each in config_rules.check(config)
        if "issuer" in each.names and not (last_issuer and _SERVE_SETTINGS & set(each.names))
    ]
    if problems:
        raise ConfigError(problems)
    return config


def _warn_of_unused_url() -> None:
    if settings.from_environment(settings.URL_VARIABLE):
        print(
            "idp: note: this command works on the store of this machine, not on the service that"
            f" {settings.URL_VARIABLE} names. Run it on the machine of that service. --data,"
            " --store or --config names the store, and ends this note.",
            file=sys.stderr,
        )


def _warn_of_other_issuer(loaded: LoadedSettings, last_issuer: str) -> None:
    if last_issuer and last_issuer != loaded.config.issuer:
        print(
            f"idp: warning: the issuer is {loaded.config.issuer} ({loaded.origins['issuer']}),"
            f" and this store was last served with {last_issuer}",
            file=sys.stderr,
        )
