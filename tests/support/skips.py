"""Skips of tests that need tools which not every machine has."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from typing import NoReturn

import pytest


def skip(reason: object) -> NoReturn:
    """Skip the test that asks. With `CI` in the environment it fails: nothing may be left out."""
    if os.environ.get("CI"):
        pytest.fail(f"CI must not skip: {reason}")
    pytest.skip(str(reason))


def output_of(command: Sequence[str], environment: Mapping[str, str], seconds: float) -> str:
    """Run a command that needs a network or a tool; returns its standard output. If it fails, or
    doesn't end within `seconds`, the test is skipped."""
    try:
        ran = subprocess.run(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=seconds,
        )
    except subprocess.TimeoutExpired:
        skip(f"{command[:3]} did not end within {seconds} s")
    if ran.returncode:
        skip(f"{command[:3]}: {ran.stderr[-1000:]}")
    return ran.stdout
