"""Who calls the service: its first administrator, and a user who is signed in."""

from __future__ import annotations

import pytest

from tests.support.management.callers import instance_owner


@pytest.fixture
def owner(io_loop, server, visitor):
    """The first administrator, with a token for the management API."""
    return io_loop.run_sync(lambda: instance_owner(server, visitor))


@pytest.fixture
def signed_in(io_loop, server, visitor, demo):
    """The demo user's browser."""
    io_loop.run_sync(lambda: demo.tokens(visitor, *server.user))
    return visitor
