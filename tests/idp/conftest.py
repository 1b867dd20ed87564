"""Logs that are written into a text, and their lines."""

from __future__ import annotations

import io
import json
import logging
from datetime import UTC, datetime

import pytest

from idp.foundation import logs
from tests.support.clock import SteppingClock

NOW = datetime(2026, 3, 4, 5, 6, 7, 89_000, tzinfo=UTC)


@pytest.fixture
def stream():
    before = dict(vars(logs._output))
    root_level = logging.getLogger().level
    stream = io.StringIO()
    logs.configure("info", "json", clock=SteppingClock(NOW), stream=stream)
    token = logs._bound.set({})
    yield stream
    logs._bound.reset(token)
    vars(logs._output).update(before)
    for handler in [h for h in logging.getLogger().handlers if isinstance(h, logs._Standard)]:
        logging.getLogger().removeHandler(handler)
    logging.getLogger().setLevel(root_level)


@pytest.fixture
def lines(stream):
    return lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
