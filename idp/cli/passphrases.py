"""Passphrases: from a file or entered on a terminal, never part of a command line."""

from __future__ import annotations

import os
import shlex
import stat
import sys
from pathlib import Path
from typing import Final

import click

from idp.foundation.errors import ConfigError

passphrase_flag = click.option(
    "--passphrase-file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="File with the passphrase; without it, it is asked for.",
)
_MAX_CHARACTERS: Final = 4096


def read_passphrase(file: Path | None, *, confirms: bool = False) -> str:
    """Returns the passphrase in the file, or without a file the one that is typed on the terminal.

    With `confirms` it has to be typed twice. Raises ConfigError if it is invalid, or if there is
    no terminal.
    """
    if file is not None:
        return _checked(_in_file(file))
    if not sys.stdin.isatty():
        raise ConfigError(["there is no terminal to ask for the passphrase: --passphrase-file"])
    typed: str = click.prompt(
        "Passphrase of the backup", hide_input=True, confirmation_prompt=confirms, err=True
    )
    return _checked(typed)


def _in_file(path: Path) -> str:
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            content = file.read(_MAX_CHARACTERS + 1)
    except OSError as error:
        raise ConfigError([f"{path} can't be read: {error.strerror}"]) from error
    # A passphrase that others can read protects nothing.
    if _is_open_to_others(status):
        raise ConfigError(
            [
                f"{path} is open to others (mode {stat.S_IMODE(status.st_mode):04o}); run:"
                f" chmod 600 {shlex.quote(str(path))}"
            ]
        )
    return content.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8", "surrogateescape")


def _is_open_to_others(status: os.stat_result) -> bool:
    others = stat.S_IRWXG | stat.S_IRWXO
    if status.st_uid == 0 and os.geteuid() != 0:
        # Kubernetes and systemd hand out files of root that the process's own group reads.
        others &= ~stat.S_IRGRP
    return bool(status.st_mode & others)


def _checked(passphrase: str) -> str:
    from idp.backup.sealed_files import MIN_PASSPHRASE

    if not MIN_PASSPHRASE <= len(passphrase) <= _MAX_CHARACTERS:
        raise ConfigError([f"a passphrase has {MIN_PASSPHRASE} to {_MAX_CHARACTERS} characters"])
    try:
        passphrase.encode()
    except UnicodeEncodeError:
        raise ConfigError(["the passphrase is not UTF-8"]) from None
    return passphrase
