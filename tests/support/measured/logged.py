"""The log of the service during a test, as lines of JSON."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from idp.foundation import logs


@contextmanager
def logged(level: str = "info") -> Iterator[io.StringIO]:
    """Collects log lines of this level and above, and restores the logging afterwards."""
    before, stream = dict(vars(logs._output)), io.StringIO()
    logs.configure(level, "json", stream=stream)
    try:
        yield stream
    finally:
        vars(logs._output).update(before)


@pytest.fixture(name="log")
def log_fixture() -> Iterator[io.StringIO]:
    """The log of a test; a module imports this fixture by its name."""
    with logged() as stream:
        yield stream
