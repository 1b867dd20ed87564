"""The settings as docs/reference/settings.md shows them: `python -m tests.support.settings_table`.

The tables come from `idp.config.settings` itself: its fields, their comments and ranges. Run as a
program this brings the page up to date; `tox -e docs` refuses a page that is not.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, get_args, get_origin

from idp.config.profiles import PUBLIC, TRIAL
from idp.config.settings import DAY, HOUR, MINUTE, RANGES, TYPES, Config

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "settings.md"
BEGIN = "<!-- settings: made by python -m tests.support.settings_table -->"
END = "<!-- end of settings -->"

_FIELD = re.compile(r"    (\w+): .+?  # (.+?)(?:  # noqa.*)?")
_GROUP = re.compile(r"    # (.+)")

# What stands for an empty default, where one is derived at the start.
_DERIVED = {"issuer": "`http://localhost:PORT`", "store": "`sqlite:///DATA/idp.sqlite3`"}
_HEAD = ("| setting | default | allowed | meaning |", "|---|---|---|---|")
_UNITS = ((DAY, "d"), (HOUR, "h"), (MINUTE, "min"))


def tables() -> str:
    """A table for each group of settings."""
    lines: list[str] = []
    for is_group, text, meaning in _entries():
        if is_group:
            lines += ["", f"## {text}", "", *_HEAD]
        else:
            lines.append(f"| `{text}` | {_default(text)} | {_allowed(text)} | {meaning} |")
    return "\n".join([*lines, ""])


def _entries() -> Iterator[tuple[bool, str, str]]:
    """The groups and fields of `Config` as they stand in its source, up to its first method."""
    source = inspect.getsource(Config)
    methods = (n for n in ast.parse(source).body[0].body if isinstance(n, ast.FunctionDef))
    for line in source.splitlines()[: next(methods).lineno - 1]:
        if found := _FIELD.fullmatch(line):
            yield False, found[1], found[2].replace("|", "\\|")
        elif found := _GROUP.fullmatch(line):
            yield True, found[1], ""


def _default(name: str) -> str:
    if name in _DERIVED:
        return _DERIVED[name]
    if name in TRIAL._fields:
        return f"{_text(getattr(TRIAL, name))}, public: {_text(getattr(PUBLIC, name))}"
    value = getattr(Config(), name)
    if value in (None, (), ""):
        return "none"
    return _text(value) + (f" ({_duration(value)})" if _is_long(name, value) else "")


def _text(value: object) -> str:
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _allowed(name: str) -> str:
    if name in RANGES:
        least, most = RANGES[name]
        return f"{least} to {most}"
    kind = TYPES[name]
    if kind is bool:
        return "true, false"
    if kind == tuple[str, ...]:
        return "list"
    return ", ".join(get_args(kind)) if get_origin(kind) is Literal else "text"


def _is_long(name: str, value: object) -> bool:
    return name.endswith("_seconds") and isinstance(value, int) and value > MINUTE


def _duration(seconds: int) -> str:
    size, unit = next(each for each in _UNITS if seconds % each[0] == 0)
    return f"{seconds // size} {unit}"


def names() -> list[str]:
    """The settings that the tables have."""
    return [text for is_group, text, _ in _entries() if not is_group]


def replaced(page: str) -> str:
    """The page with the tables of today."""
    head, _, rest = page.partition(BEGIN)
    return f"{head}{BEGIN}\n{tables()}\n{END}{rest.partition(END)[2]}"


def main() -> None:
    PAGE.write_text(replaced(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
