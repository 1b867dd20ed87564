"""Stores on MongoDB, for the tests of what is particular to it."""

from __future__ import annotations

import time
import uuid
from contextlib import contextmanager
from datetime import UTC, datetime

import pytest

from storage.mongo import MongoStore
from tests.storage.records import ALL

# The drivers' own retries and reconnections take half a second each: the default is a sample.
DRIVERS = ["pymongo", pytest.param("motor", marks=pytest.mark.load)]


def make(url, client=None, now=None):
    return MongoStore(
        url,
        now=now or (lambda: datetime.now(UTC)),
        new_id=lambda: uuid.uuid4().hex,
        client=client,
    )


def opened(io_loop, url, client=None):
    store = make(url, client)
    io_loop.run_sync(lambda: store.open(ALL))
    return store


@contextmanager
def timed(limit):
    began = time.monotonic()
    yield
    assert time.monotonic() - began < limit
