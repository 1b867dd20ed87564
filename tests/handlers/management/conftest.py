"""Organizations, and a store with one record of each kind."""

from __future__ import annotations

import pytest

from tests.support.management.api_world import World
from tests.support.management.callers import instance_owner, new_organization


@pytest.fixture
def world(io_loop, server, visitor):
    """Something for every call to act on, and the first administrator who made it."""
    owner = io_loop.run_sync(lambda: instance_owner(server, visitor))
    return io_loop.run_sync(lambda: World(server, visitor, owner).make())


@pytest.fixture
def acme(io_loop, server):
    """An organization."""
    return io_loop.run_sync(lambda: new_organization(server, "acme.example"))


@pytest.fixture
def own(io_loop, server):
    """An organization."""
    return io_loop.run_sync(lambda: new_organization(server, "own.example"))
