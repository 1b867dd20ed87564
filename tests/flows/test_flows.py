"""Every flow over every store, against the running program (mongomock: the service in here)."""

from __future__ import annotations

import httpx
import pytest

from tests.flows.conftest import PLACES
from tests.flows.flows import FLOWS

# Each request on a connection of its own, so that it meets whichever process comes.
NO_REUSE = httpx.Limits(max_keepalive_connections=0)


@pytest.mark.gen_test(timeout=60)
@pytest.mark.parametrize("flow", FLOWS, ids=lambda flow: flow.__name__)
@pytest.mark.parametrize("place", PLACES, indirect=True)
async def test_the_flow_works(place, flow, open_browser):
    await flow(place, lambda at: open_browser(at, limits=NO_REUSE))
