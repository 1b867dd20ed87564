"""Each check of the protocol is missed by some test, once it is taken away."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mutants import authorizing, clients, devices, exchanging, tokens

ROOT = Path(__file__).parents[2]
MUTANTS = [
    *clients.MUTANTS,
    *tokens.MUTANTS,
    *authorizing.MUTANTS,
    *exchanging.MUTANTS,
    *devices.MUTANTS,
]
PARTS = ("idp", "handlers", "storage", "templates", "locales", "tests")
SECONDS = 240
ASSERTION_FAILED = 1  # pytest's exit code; others say that no test was run


def test_there_are_more_than_sixty_mutants_and_each_is_another():
    assert len(MUTANTS) > 60
    assert len({mutant.says for mutant in MUTANTS}) == len(MUTANTS)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.says)
def test_a_mutant_still_fits_the_program(mutant):
    text = (ROOT / mutant.file).read_text(encoding="utf-8")

    assert text.count(mutant.old) == 1
    assert mutant.new not in (mutant.old, None)


@pytest.fixture
def copy(tmp_path) -> Path:
    """The program and its tests, to be changed."""
    ignored = shutil.ignore_patterns("__pycache__", "node_modules", "docs")
    for part in PARTS:
        shutil.copytree(ROOT / part, tmp_path / part, ignore=ignored)
    for file in ("tox.ini", "setup.cfg", "pyproject.toml"):
        shutil.copy(ROOT / file, tmp_path / file)
    return tmp_path


@pytest.mark.deep
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.says)
def test_a_check_that_is_taken_away_is_missed(mutant, copy, record_property):
    file = copy / mutant.file
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
    options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *shlex.split(mutant.tests), *options],
        cwd=copy,
        env=os.environ | {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )

    record_property("counts", f"missed: {mutant.says}")
    assert ran.returncode == ASSERTION_FAILED, ran.stdout[-2000:] + ran.stderr[-2000:]
    assert " failed" in ran.stdout
