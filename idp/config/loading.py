"""Loading of settings: the source of each value, and validation.

The sources of a setting, from the weakest: its default, the TOML file, the environment
(`IDP_<NAME>`), an option of the command line.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Set
from pathlib import Path
from typing import Any, Final, NamedTuple, get_args

import msgspec

from idp.config import rules as config_rules
from idp.config.profiles import ProfileDefaults
from idp.config.rules import BrokenRule
from idp.config.settings import RANGES, TYPES, Config, displayed
from idp.config.urls import has_user_without_password, with_password
from idp.foundation import private_files
from idp.foundation.errors import ConfigError

# IDP_ variables that are not settings: the settings file, the service that commands of the CLI
# call, and variables of the test suite.
FILE_VARIABLE: Final = "IDP_CONFIG"
URL_VARIABLE: Final = "IDP_URL"
ORG_VARIABLE: Final = "IDP_ORG"
TOKEN_VARIABLE: Final = "IDP_TOKEN"  # noqa: S105 - a name
PASSWORD_VARIABLE: Final = "IDP_PASSWORD"  # noqa: S105 - a name
TEST_PREFIX: Final = "IDP_TEST_"
# What to do about a setting of an earlier release.
_REMOVED: Final = {
    "address_failures_before_delay": "remove it; address_accounts_before_delay took its place",
}
_MAX_PASSWORD_BYTES: Final = 4096
_FRACTION: Final = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")
_NOT_SETTINGS: Final = (
    FILE_VARIABLE,
    URL_VARIABLE,
    ORG_VARIABLE,
    TOKEN_VARIABLE,
    PASSWORD_VARIABLE,
)


class LoadedSettings(NamedTuple):
    """Valid settings, and the source of each value by the setting's name, such as `default` or the
    name of a variable."""

    config: Config
    origins: Mapping[str, str]

    def with_issuer(self, issuer: str) -> Config:
        """Returns the settings with this issuer; those that were not given and whose defaults
        depend on the profile get the defaults for this issuer."""
        profile_dependent = {
            name: None for name in ProfileDefaults._fields if self.origins[name] == "default"
        }
        return msgspec.structs.replace(self.config, issuer=issuer, **profile_dependent)


class DisplayedSetting(NamedTuple):
    """A setting as it is displayed: with its source, and without secrets."""

    name: str
    value: str
    origin: str


class _StatedValue(NamedTuple):
    value: object
    origin: str
    is_text: bool  # from the environment or the command line: parsed by the setting's type


def load(
    flags: Mapping[str, object],
    environment: Mapping[str, str] | None = None,
    file: Path | None = None,
    rules: Callable[[Config], Iterable[BrokenRule]] = config_rules.check,
    set_by_caller: Set[str] = frozenset(),
) -> LoadedSettings:
    """Returns the settings from all sources. Raises ConfigError, which lists every problem.

    `flags` are the command line's options, by the settings' names. A flag that is None or empty
    counts as not given, and so does an empty variable. Without `environment`, the process's own is
    read; without `file`, the one in IDP_CONFIG. `rules` yields the rules that a Config breaks.
    `set_by_caller` are the names of settings that the caller sets later: a broken rule about
    one of them is ignored unless the setting was given.
    """
    environment = os.environ if environment is None else environment
    if file is None and environment.get(FILE_VARIABLE):
        file = Path(environment[FILE_VARIABLE])
    problems: list[str] = []
    stated = _from_file(file, problems) if file else {}
    stated |= _from_environment(environment, problems) | _from_flags(flags, problems)
    values = {name: _converted(name, each, problems) for name, each in stated.items()}
    unusable = {name for name, value in values.items() if value is None}
    not_checked = unusable | (set_by_caller - stated.keys())
    config = Config(**{name: values[name] for name in values.keys() - unusable})
    problems += [
        f"{each.text} ({_origins(each.names, stated)}){each.fix and f'; {each.fix}'}"
        for each in rules(config)
        if not not_checked & set(each.names)
    ]
    if problems:
        raise ConfigError(problems)
    origins = {name: stated[name].origin if name in stated else "default" for name in TYPES}
    return LoadedSettings(_with_store_password(config), origins)


def from_environment(name: str) -> str | None:
    """Returns the value of the environment variable; None if it is not set or empty."""
    return os.environ.get(name) or None


def environment_for_children() -> dict[str, str]:
    """Returns the environment variables of this process, which a process that it starts receives,
    too."""
    return dict(os.environ)


def pop_from_environment(name: str) -> str | None:
    """Returns the value of the environment variable and removes it, so that no child gets it; None
    if it is not set or empty."""
    return os.environ.pop(name, None) or None


def name_from_environment(variable: str) -> str | None:
    """Returns the name or id that this environment variable contains; None if it is not set.


    Raises ConfigError if it is set but empty, because the intention is unclear then.
    """
    value = os.environ.get(variable)
    if value == "":
        raise ConfigError([f"{variable} is empty, so nothing was done: set or unset it"])
    return value


def describe(loaded: LoadedSettings) -> list[DisplayedSetting]:
    """Returns each setting with its value and source, in the form that `idp config show --origin`
    prints.
    """
    return [
        DisplayedSetting(name, _text(displayed(loaded.config, name)), loaded.origins[name])
        for name in TYPES
    ]


def _with_store_password(config: Config) -> Config:
    """The settings with the password of `store_password_file` in the URL of the store. Raises
    ConfigError."""
    file = config.store_password_file
    if file is None or not has_user_without_password(config.store):
        return config
    content = private_files.read(Path(file), "store_password_file", _MAX_PASSWORD_BYTES)
    try:
        password = content.decode().strip()
    except UnicodeDecodeError:
        raise ConfigError([f"store_password_file {file} is not UTF-8"]) from None
    if not password:
        raise ConfigError([f"store_password_file {file} is empty"])
    return msgspec.structs.replace(config, store=with_password(config.store, password))


def _from_file(file: Path, problems: list[str]) -> dict[str, _StatedValue]:
    import tomllib  # most starts have no file

    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        problems.append(f"the settings file {file} can't be read: {error.strerror}")
        return {}
    except ValueError as error:  # invalid TOML or UTF-8
        problems.append(f"the settings file {file} is not TOML: {error}")
        return {}
    values = _known(table, {name: name for name in TYPES}, f"in {file}: ", problems)
    return {name: _StatedValue(value, f"file {file}", False) for name, value in values.items()}


def _from_environment(
    environment: Mapping[str, str], problems: list[str]
) -> dict[str, _StatedValue]:
    from_environment = {
        variable: value
        for variable, value in environment.items()
        if value
        and variable.startswith("IDP_")
        and variable not in _NOT_SETTINGS
        and not variable.startswith(TEST_PREFIX)
    }
    names = {_variable(name): name for name in TYPES}
    values = _known(from_environment, names, "in the environment: ", problems)
    return {
        name: _StatedValue(value, f"environment {_variable(name)}", True)
        for name, value in values.items()
    }


def _from_flags(flags: Mapping[str, object], problems: list[str]) -> dict[str, _StatedValue]:
    stated = {name: value for name, value in flags.items() if value not in (None, "", (), [])}
    values = _known(stated, {name: name for name in TYPES}, "on the command line: ", problems)
    return {
        name: _StatedValue(value, f"flag --{name.replace('_', '-')}", isinstance(value, str))
        for name, value in values.items()
    }


def _known(
    table: Mapping[str, object], names: Mapping[str, str], place: str, problems: list[str]
) -> dict[str, object]:
    """The entries that are settings, by the setting's name; other entries are added to
    `problems`."""
    for key in sorted(table.keys() - names.keys()):
        bare = key.removeprefix("IDP_").lower()
        if (advice := _REMOVED.get(bare)) is not None:
            problems.append(f"{place}{key} is no longer a setting: {advice}")
            continue
        from difflib import get_close_matches  # only needed after a typing error

        near = get_close_matches(bare, names.values(), n=1)
        advice = "".join(f"; the nearest is {each}" for each in names if names[each] in near)
        problems.append(f"{place}{key} is not a setting{advice}")
    return {names[key]: value for key, value in table.items() if key in names}


def _converted(name: str, stated: _StatedValue, problems: list[str]) -> Any:
    """The value in the setting's type and range, or None with an entry in `problems`."""
    kind = TYPES[name]
    try:
        value = _parsed(str(stated.value), kind) if stated.is_text else stated.value
        value = msgspec.convert(value, kind)
        minimum, maximum = RANGES.get(name, (value, value))
        if minimum <= value <= maximum:
            return value
        expected = f"must be from {minimum} to {maximum}"
    except (ValueError, msgspec.ValidationError):
        expected = _expectation(kind)
    problems.append(f"{name} {expected} ({stated.origin})")
    return None


def _parsed(text: str, kind: Any) -> object:
    """The value of a text from the environment or the command line. Raises ValueError."""
    if kind is bool:
        return {"true": True, "1": True, "false": False, "0": False}.get(text, text)
    if kind is int:
        if not (text.isascii() and text.isdecimal() and len(text) < 19):
            raise ValueError  # int() also accepts underscores, spaces and foreign digits
        return int(text)
    if kind is float:
        if not _FRACTION.fullmatch(text):
            raise ValueError  # float() also accepts underscores, spaces, nan and inf
        return float(text)
    if kind == tuple[str, ...]:
        return tuple(part.strip() for part in text.split(",") if part.strip())
    return text


def _expectation(kind: Any) -> str:
    if kind is bool:
        return "must be true or false (in the environment 1 and 0 do as well)"
    if kind is int:
        return "must be a whole number"
    if kind is float:
        return "must be a number"
    if kind == tuple[str, ...]:
        return "must be a list of texts (in the environment, separated by commas)"
    if kind in (str, str | None):
        return "must be text"
    return f"must be one of {', '.join(get_args(kind))}"


def _variable(name: str) -> str:
    return f"IDP_{name.upper()}"


def _origins(names: tuple[str, ...], stated: Mapping[str, _StatedValue]) -> str:
    return ", ".join(stated[name].origin for name in names if name in stated) or "default"


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(value) if isinstance(value, tuple) else str(value)


def environment_names(prefixes: tuple[str, ...]) -> list[str]:
    """Returns the names of variables that begin with one of `prefixes`, in any case."""
    return sorted(name for name in os.environ if name.upper().startswith(prefixes))
