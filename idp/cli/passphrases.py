"""Passphrases: from a file or entered on a terminal, never part of a command line."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

import click

from idp.foundation import private_files
from idp.foundation.errors import ConfigError

passphrase_flag = click.option(
    "--passphrase-file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The file with the passphrase; without it, the command asks for it.",
)
_MAX_CHARACTERS: Final = 4096


def read_passphrase(file: Path | None, *, confirms: bool = False) -> str:
    """Returns the passphrase in the file, or without a file the one that is entered on the
    terminal.

    With `confirms` it has to be entered twice. Raises ConfigError if it is invalid, or if there is
    no terminal.
    """
    if file is not None:
        return _check(_read_file(file))
    if not sys.stdin.isatty():
        raise ConfigError(
            [("there is no terminal to ask for the passphrase: use --passphrase-file")]
        )
    entered: str = click.prompt(
        "Passphrase of the backup", hide_input=True, confirmation_prompt=confirms, err=True
    )
    return _check(entered)


def _read_file(path: Path) -> str:
    content = private_files.read(path, "the passphrase", _MAX_CHARACTERS + 1)
    return content.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8", "surrogateescape")


def _check(passphrase: str) -> str:
    from idp.backup.sealed_files import MIN_PASSPHRASE

    if not MIN_PASSPHRASE <= len(passphrase) <= _MAX_CHARACTERS:
        raise ConfigError([f"a passphrase has {MIN_PASSPHRASE} to {_MAX_CHARACTERS} characters"])
    try:
        passphrase.encode()
    except UnicodeEncodeError:
        raise ConfigError(["the passphrase is not UTF-8"]) from None
    return passphrase
