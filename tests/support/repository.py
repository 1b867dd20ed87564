"""The files of the repository, as tests and programs read them."""

from __future__ import annotations

import configparser
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PRODUCT = ("idp", "handlers", "storage", "templates", "locales")
_OPTION = re.compile(r"(?:^|\s)(-[^\s=]*)")


def read(name: str | Path) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def modules(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


@cache
def setup_cfg() -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None)
    parser.read(ROOT / "setup.cfg", encoding="utf-8")
    return parser


def listed(section: str, option: str) -> set[str]:
    return set(setup_cfg()[section][option].split())


@cache
def tracked() -> list[Path]:
    """The files of the repository: what git knows, or in an unpacked archive the product's."""
    if (ROOT / ".git").exists() and shutil.which("git"):
        command = ["git", "-c", "safe.directory=*", "ls-files", "-z"]
        names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout
        return [ROOT / os.fsdecode(name) for name in names.split(b"\0") if name]
    return [path for folder in PRODUCT for path in (ROOT / folder).rglob("*.*")]


def options(requirements: str) -> set[str]:
    """Every option of a requirements file, also behind a requirement."""
    lines: Iterator[str] = (
        line for line in requirements.splitlines() if not line.lstrip().startswith("#")
    )
    return {option for line in lines for option in _OPTION.findall(line)}
