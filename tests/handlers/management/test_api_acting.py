"""Every call of the management API by a token of somebody who acts for an owner.

The calls come from the table of operations. The subject may do everything, so a refusal is because
of the actor alone.
"""

from __future__ import annotations

import pytest

from tests.support.management.api_samples import CALLS
from tests.support.management.callers import Caller, is_admitted, new_caller, refused
from tests.support.protocol.exchanging import ACCESS, USER_ID, Broker
from tests.support.store import writes
from tests.support.store.writes import at

READS = {
    "org.read",
    "user.read",
    "user.grant.read",
    "group.read",
    "project.read",
    "project.app.read",
    "policy.read",
}


@pytest.fixture
def settings():
    return {"refused_credentials_limit": 1_000_000}


async def acting_for_an_owner(server, visitor, new_visitor, world) -> Caller:
    """Acts for an owner of the installation by a token for this service."""
    broker = await Broker.make(server, visitor, new_visitor, has_management_access=True)
    home = await broker.home()
    subject = await new_caller(server, visitor, home, "IAM_OWNER", everywhere=True)
    actor = await new_caller(server, visitor, home, "IAM_ADMIN_IMPERSONATOR", everywhere=True)
    acting = {"actor_token": actor.token, "actor_token_type": ACCESS}
    body = await broker.granted(subject.user_id, USER_ID, **acting)
    return Caller(visitor, body["access_token"])


@pytest.mark.full
@pytest.mark.promise("acting: reads")
async def test_of_all_calls_an_acting_token_opens_those_that_read_and_no_others(
    server, visitor, new_visitor, world, monkeypatch
):
    caller = await acting_for_an_owner(server, visitor, new_visitor, world)
    written, passed = writes.recorded(server.store, monkeypatch), set()
    for call, operation in CALLS.items():
        target = await world.target(operation)
        if call.startswith("GET ") and "{picture}" in call:
            # A logo is examined at its first use, and what was found is stored with it.
            await target.by(world.owner, **world.here)
        with at(call, operation.permission, written):
            page = await target.by(caller, **world.here)
            if operation.permission in READS:
                assert is_admitted(page), page.text
                passed.add(call)
            else:
                assert refused(page, 403, 7) == {"": "token.actor"}

    assert "DELETE /admin/v1/orgs/{orgId}" in CALLS.keys() - passed
    assert len(passed) > 30
