"""Tests that need what not every machine has."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest


def skip(reason: object) -> NoReturn:
    """Skip the test that asks. With `CI` in the environment it fails: nothing may be left out."""
    if os.environ.get("CI"):
        pytest.fail(f"CI must not skip: {reason}")
    pytest.skip(str(reason))
