"""Every flow over every store: in the running program, or in this process (memory)."""

from __future__ import annotations

import httpx
import pytest

from tests.flows.conftest import MAIN, OTHERS
from tests.flows.flows import FLOWS
from tests.support.slices import one_in

# Each request on a connection of its own, so that it meets whichever process comes.
NO_REUSE = httpx.Limits(max_keepalive_connections=0)
MATRIX = [
    *((place, flow) for place in MAIN for flow in FLOWS),
    *one_in(5, ((place, flow) for place in OTHERS if place != "trio" for flow in FLOWS)),
    *(pytest.param("trio", flow, marks=pytest.mark.load) for flow in FLOWS),  # slow to start
]


@pytest.mark.full
@pytest.mark.parametrize(
    ("place", "flow"), MATRIX, indirect=["place"], ids=lambda one: getattr(one, "__name__", one)
)
async def test_the_flow_works(place, flow, open_browser):
    await flow(place, lambda at: open_browser(at, limits=NO_REUSE))
