"""What mistakes are made with, and the tokens of a user."""

from __future__ import annotations

import pytest

from tests.handlers.protocol.mistakes.world import World


@pytest.fixture
def world(io_loop, server, visitor):
    return io_loop.run_sync(lambda: World.make(server, visitor))


@pytest.fixture
def tokens(io_loop, server, visitor, demo):
    """The token endpoint's answer to the demo user's sign-in."""
    return io_loop.run_sync(lambda: demo.tokens(visitor, *server.user))
