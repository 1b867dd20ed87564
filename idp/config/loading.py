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
from idp.foundation.errors import ConfigError

# IDP_ variables that are not settings: the settings file, the service that commands of the CLI
# call, and variables of the test suite.
FILE_VARIABLE: Final = "IDP_CONFIG"
URL_VARIABLE: Final = "IDP_URL"
ORG_VARIABLE: Final = "IDP_ORG"
TOKEN_VARIABLE: Final = "IDP_TOKEN"  # noqa: S105 - a name
PASSWORD_VARIABLE: Final = "IDP_PASSWORD"  # noqa: S105 - a name
TEST_PREFIX: Final = "IDP_TEST_"
# Settings of earlier releases that are still accepted, without effect.
WITHOUT_EFFECT: Final = ("address_failures_before_delay",)
_FRACTION: Final = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")
_NO_SETTINGS: Final = (
    FILE_VARIABLE,
    URL_VARIABLE,
    ORG_VARIABLE,
    TOKEN_VARIABLE,
    PASSWORD_VARIABLE,
)


class Loaded(NamedTuple):
    """Valid settings, and by each setting's name the source of its value, such as `default` or the
    name of a variable."""

    config: Config
    origins: Mapping[str, str]

    def with_issuer(self, issuer: str) -> Config:
        """Returns the settings with this issuer; those that were not given and whose defaults
        depend on the profile get the defaults for this issuer."""
        of_profile = {
            name: None for name in ProfileDefaults._fields if self.origins[name] == "default"
        }
        return msgspec.structs.replace(self.config, issuer=issuer, **of_profile)

    def without_effect(self) -> list[str]:
        """Returns the names of the settings that were given but have no effect any more."""
        return [name for name in WITHOUT_EFFECT if self.origins[name] != "default"]


class DisplayedSetting(NamedTuple):
    """A setting as it is displayed: with its source, and without secrets."""

    name: str
    value: str
    origin: str


class _Given(NamedTuple):
    value: object
    origin: str
    is_text: bool  # from the environment or the command line: parsed by the setting's type


def load(
    flags: Mapping[str, object],
    environment: Mapping[str, str] | None = None,
    file: Path | None = None,
    rules: Callable[[Config], Iterable[BrokenRule]] = config_rules.check,
    known_later: Set[str] = frozenset(),
) -> Loaded:
    """Returns the settings from all sources. Raises ConfigError, which lists every problem.

    `flags` are the command line's options, by the settings' names. A flag that is None or empty
    counts as not given, and so does an empty variable. Without `environment`, the process's own is
    read; without `file`, the one in IDP_CONFIG. `rules` yields the rules that a Config breaks.
    `known_later` are the names of settings that the caller will set itself: a broken rule about
    one of them is ignored unless the setting was given.
    """
    environment = os.environ if environment is None else environment
    if file is None and environment.get(FILE_VARIABLE):
        file = Path(environment[FILE_VARIABLE])
    problems: list[str] = []
    given = _from_file(file, problems) if file else {}
    given |= _from_environment(environment, problems) | _from_flags(flags, problems)
    values = {name: _converted(name, each, problems) for name, each in given.items()}
    unusable = {name for name, value in values.items() if value is None}
    not_checked = unusable | (known_later - given.keys())
    config = Config(**{name: values[name] for name in values.keys() - unusable})
    problems += [
        f"{each.text} ({_where(each.names, given)}){each.cure and f'; {each.cure}'}"
        for each in rules(config)
        if not not_checked & set(each.names)
    ]
    if problems:
        raise ConfigError(problems)
    origins = {name: given[name].origin if name in given else "default" for name in TYPES}
    return Loaded(config, origins)


def from_environment(name: str) -> str | None:
    """Returns the value of the environment variable; None if it is not set or empty."""
    return os.environ.get(name) or None


def taken_from_environment(name: str) -> str | None:
    """Returns the value of the environment variable and removes it, so that no child gets it; None
    if it is not set or empty."""
    return os.environ.pop(name, None) or None


def name_from_environment(variable: str) -> str | None:
    """Returns the name of a thing that this environment variable contains, such as an id; None if
    it is not set.

    Raises ConfigError if it is set but empty, because the intention is unclear then.
    """
    value = os.environ.get(variable)
    if value == "":
        raise ConfigError([f"{variable} is empty, so nothing was done: set or unset it"])
    return value


def describe(loaded: Loaded) -> list[DisplayedSetting]:
    """Returns each setting with its value and source, in the form that `idp config show --origin`
    prints.
    """
    return [
        DisplayedSetting(name, _text(displayed(loaded.config, name)), loaded.origins[name])
        for name in TYPES
    ]


def _from_file(file: Path, problems: list[str]) -> dict[str, _Given]:
    import tomllib  # the usual start has no file

    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        problems.append(f"the settings file {file} can't be read: {error.strerror}")
        return {}
    except ValueError as error:  # invalid TOML or UTF-8
        problems.append(f"the settings file {file} is not TOML: {error}")
        return {}
    known = _known(table, {name: name for name in TYPES}, f"in {file}: ", problems)
    return {name: _Given(value, f"file {file}", False) for name, value in known.items()}


def _from_environment(environment: Mapping[str, str], problems: list[str]) -> dict[str, _Given]:
    ours = {
        variable: value
        for variable, value in environment.items()
        if value
        and variable.startswith("IDP_")
        and variable not in _NO_SETTINGS
        and not variable.startswith(TEST_PREFIX)
    }
    names = {_variable(name): name for name in TYPES}
    known = _known(ours, names, "in the environment: ", problems)
    return {
        name: _Given(value, f"environment {_variable(name)}", True)
        for name, value in known.items()
    }


def _from_flags(flags: Mapping[str, object], problems: list[str]) -> dict[str, _Given]:
    given = {name: value for name, value in flags.items() if value not in (None, "", (), [])}
    known = _known(given, {name: name for name in TYPES}, "on the command line: ", problems)
    return {
        name: _Given(value, f"flag --{name.replace('_', '-')}", isinstance(value, str))
        for name, value in known.items()
    }


def _known(
    table: Mapping[str, object], names: Mapping[str, str], where: str, problems: list[str]
) -> dict[str, object]:
    """The entries that are settings, by the setting's name; other entries are added to
    `problems`."""
    for key in sorted(table.keys() - names.keys()):
        from difflib import get_close_matches  # only needed after a typing error

        near = get_close_matches(key, names, n=1, cutoff=0)
        problems.append(f"{where}{key} is not a setting; the nearest is {near[0]}")
    return {names[key]: value for key, value in table.items() if key in names}


def _converted(name: str, given: _Given, problems: list[str]) -> Any:
    """The value in the setting's type and range, or None with an entry in `problems`."""
    kind = TYPES[name]
    try:
        value = _parsed(str(given.value), kind) if given.is_text else given.value
        value = msgspec.convert(value, kind)
        least, most = RANGES.get(name, (value, value))
        if least <= value <= most:
            return value
        expected = f"must be from {least} to {most}"
    except (ValueError, msgspec.ValidationError):
        expected = _expectation(kind)
    problems.append(f"{name} {expected} ({given.origin})")
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


def _where(names: tuple[str, ...], given: Mapping[str, _Given]) -> str:
    return ", ".join(given[name].origin for name in names if name in given) or "default"


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(value) if isinstance(value, tuple) else str(value)
