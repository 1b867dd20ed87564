"""An organization's owner, and the TXT records of its domains."""

from __future__ import annotations

import pytest

from tests.handlers.management.organizations.naming import Zone
from tests.support.management.callers import new_caller


@pytest.fixture
def chief(io_loop, server, visitor, acme):
    """The owner of `acme`."""
    return io_loop.run_sync(lambda: new_caller(server, visitor, acme, "ORG_OWNER"))


@pytest.fixture
def zone(server):
    """The TXT records that are published."""
    return Zone(server)
