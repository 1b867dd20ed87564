"""Requests made of the API's own description: no failure, no answer that it does not tell of."""

from __future__ import annotations

from functools import partial

import pytest

from idp.api import OPERATIONS
from tests.fuzz.described_api import Described
from tests.support import invariants
from tests.support.management.api_world import World
from tests.support.management.callers import instance_owner, new_caller

ENOUGH = 20_000
PARTS = 2
EXAMPLES = ENOUGH // len(OPERATIONS) // 2 + 15  # of each call and mode; some have less


@pytest.fixture
def world(io_loop, server, visitor):
    owner = io_loop.run_sync(lambda: instance_owner(server, visitor))
    made = io_loop.run_sync(lambda: World(server, visitor, owner).make())
    for organization in (made.own, made.other):
        io_loop.run_sync(partial(new_caller, server, visitor, organization, "ORG_OWNER"))
    return made


@pytest.mark.load
@pytest.mark.gen_test(timeout=1800)
@pytest.mark.parametrize("part", range(PARTS))
async def test_every_answer_is_as_the_description_says(
    server, world, visitor, record_property, part
):
    document = (await visitor.get("/openapi.json")).json()
    ids = {
        "projectId": world.project,
        "appId": world.app,
        "userId": world.user,
        "roleKey": world.names["role"],
        "domain": "own.example",
        "type": "verifyemail",
        "language": "de",
        "key": "department",
    }
    token = f"Bearer {world.owner.token}".encode()
    headers = [(b"Authorization", token), (b"x-idp-orgid", world.own.id.encode())]
    described = Described(document, ids, headers)
    host = server.issuer.partition("//")[2].encode()
    requests = described.requests(server.issuer, EXAMPLES, slice(part, None, PARTS))
    await described.send(host, requests)
    record_property("counts", dict(described.counts))

    await invariants.hold(server.store)
    assert sum(described.counts.values()) >= ENOUGH / PARTS
    assert described.counts[200] > ENOUGH / PARTS / 20
