"""The release before this one as a program, installed as an operator installs it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

from tests.support.programs.program import Program, command, environment
from tests.support.repository import ROOT
from tests.support.skips import output_of

# 0.2.0. After a release, this is the commit of its tag.
REVISION: Final = "8359d4b09a662fa75671d55999b9f2d0e23e213c"
INSTALL_SECONDS: Final = 900


class ReleaseBefore(Program):
    """`idp serve` of the release before."""

    def __init__(self, python: Path, directory: Path, *flags: str, **settings: object) -> None:
        super().__init__(directory, *flags, **settings)
        self.python = python

    def spawn(self) -> Program:
        whole = command("serve", *self.flags)
        whole[whole.index(sys.executable, 1)] = str(self.python)
        self._open(whole, environment(**self.environment) | {"PYTHONPATH": ""})
        return self


def install(directory: Path) -> Path:
    """Install it there from the history of this repository; returns its Python.

    The test is skipped where the history or the packages are not to be had.
    """
    source, environment = directory / "source", directory / "environment"
    source.mkdir()
    git = ("git", "-c", "safe.directory=*", "-C", str(ROOT))
    archive = directory / "source.tar"
    _run(*git, "archive", f"--output={archive}", REVISION)
    _run("tar", "--extract", "--file", archive, "--directory", source)
    _run(sys.executable, "-m", "venv", environment)
    pip = (environment / "bin" / "pip", "--quiet", "--disable-pip-version-check", "install")
    _run(*pip, "--require-hashes", "--requirement", source / "requirements" / "deploy.txt")
    _run(*pip, "--no-deps", source)
    return environment / "bin" / "python"


def _run(*arguments: object) -> None:
    output_of([str(each) for each in arguments], os.environ | {"PYTHONPATH": ""}, INSTALL_SECONDS)
