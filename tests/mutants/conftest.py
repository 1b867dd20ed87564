"""A copy of the program, to be changed and tried."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PARTS = ("idp", "handlers", "storage", "templates", "locales", "tests")
SECONDS = 240


@pytest.fixture
def copy(tmp_path) -> Path:
    """The program and its tests, in a directory of their own."""
    ignored = shutil.ignore_patterns("__pycache__", "node_modules", "docs")
    for part in PARTS:
        shutil.copytree(ROOT / part, tmp_path / part, ignore=ignored)
    for file in ("tox.ini", "setup.cfg", "pyproject.toml"):
        shutil.copy(ROOT / file, tmp_path / file)
    return tmp_path


@pytest.fixture
def tried(copy) -> Callable[[str], subprocess.CompletedProcess]:
    """Runs tests of the copy, named as for pytest, until the first one fails."""

    def run(tests: str) -> subprocess.CompletedProcess:
        # Some rows that a mutant needs are not in the gate.
        options = ["--suite=full", "-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
        return subprocess.run(
            [sys.executable, "-m", "pytest", *shlex.split(tests), *options],
            cwd=copy,
            env=os.environ | {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )

    return run
