from __future__ import annotations

import pytest

from tests.support.management.connecting import Connecting
from tests.support.protocol.claiming import organization_of
from tests.support.sign_in.federating import Federation
from tests.support.sign_in.hostile_provider import HostileProvider


@pytest.fixture
def provider(io_loop, server):
    """Another identity provider."""
    made = HostileProvider(server.clock)
    yield made
    io_loop.run_sync(made.close)


@pytest.fixture
def unconnected(io_loop, server, owner, demo, visitor, provider):
    """The demo's organization, before it has a connection to that provider."""
    home = io_loop.run_sync(lambda: organization_of(server))
    return Federation(server, Connecting(owner, home.id), demo, visitor, provider)


@pytest.fixture
def federation(io_loop, unconnected):
    """A connection of the demo's organization to that provider, offered on its pages."""
    return io_loop.run_sync(unconnected.make)
