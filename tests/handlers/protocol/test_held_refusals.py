"""Of a flood of refusals, the newest 200 of each application are kept for `idp explain`."""

from __future__ import annotations

import pytest

from idp.limits import held_refusals
from idp.limits.held_refusals import HeldRefusals
from idp.oauth.endpoints import refusal_records
from idp.oauth.endpoints.refusal_records import DROPPED_SCOPE, RefusedRequest
from idp.oauth.errors import InvalidRequest
from idp.records import APPLICATIONS, REFUSALS
from storage import Delete, Unavailable

NETWORK = "192.0.2.1"
SCOPES = ("scope", "openid offline_access")


@pytest.fixture
def refuse(server):
    async def refuse(client_id, number=0, *pairs, times=1):
        for n in range(number, number + times):
            sent = [("client_id", client_id), *pairs] if client_id else [*pairs]
            refused = RefusedRequest(f"r{n}", "authorize", "GET", sent, network=NETWORK)
            await refusal_records.store(server.service, refused, InvalidRequest("bad"))

    return refuse


@pytest.fixture
def wait(server, timer):
    async def wait(seconds=1):
        for _ in range(seconds):
            await timer.advance(1)
            await server.service.background_tasks.finished()

    return wait


@pytest.fixture
def busy(refuse):
    """The network has used up what is stored at once, with requests that name no application."""

    async def busy():
        await refuse(None, 10_000, times=60)

    return busy


async def stored(server, client_id):
    found = [one async for one in server.store.scan(REFUSALS) if one.client_id == client_id]
    return [one.request_id for one in found]


async def test_a_busy_network_does_not_push_out_a_developers_refusals(
    server, demo, refuse, wait, busy
):
    await busy()
    await refuse(demo.client_id, times=3)
    at_once = await stored(server, demo.client_id)
    await wait()

    assert at_once == []
    assert sorted(await stored(server, demo.client_id)) == ["r0", "r1", "r2"]


async def test_of_a_flood_of_one_application_its_newest_200_are_kept(
    server, demo, refuse, wait, busy
):
    await busy()
    for number in (0, 1000):
        await refuse(demo.client_id, number, times=500)
        await wait(5)

        kept = {f"r{n}" for n in range(number + 300, number + 500)}
        assert set(await stored(server, demo.client_id)) == kept


async def test_a_flood_of_another_application_does_not_delay_one(server, demo, refuse, wait, busy):
    await busy()
    other = await server.register("Other")
    await refuse(other.client_id, times=300)
    await refuse(demo.client_id, 1000, times=10)
    await wait()

    assert len(await stored(server, demo.client_id)) == 10
    assert len(await stored(server, other.client_id)) == 40


async def test_what_names_no_application_is_not_stored_and_waits_no_longer(
    server, demo, refuse, wait, busy
):
    await busy()
    await refuse(None, times=5)
    for n in range(1500):
        await refuse(f"unknown{n}", n)
    await refuse(demo.client_id, 5000)
    before = len([one async for one in server.store.scan(REFUSALS)])
    await wait(2)

    assert len([one async for one in server.store.scan(REFUSALS)]) == before + 1
    assert server.service.held_refusals.waiting == 0


async def test_the_name_of_an_application_that_does_not_exist_is_not_stored(
    server, demo, refuse, wait, busy
):
    await busy()
    await refuse(demo.client_id, 0, ("client_id", "a secret in the wrong place"))
    await wait()

    assert "wrong place" not in repr([one async for one in server.store.scan(REFUSALS)])


async def test_a_dropped_scope_is_named_later_too(server, refuse, wait, busy):
    await busy()
    party = await server.register("Plain", grant_types=["authorization_code"])
    await refuse(party.client_id, 0, SCOPES)
    await wait()
    (found,) = [
        one async for one in server.store.scan(REFUSALS) if one.client_id == party.client_id
    ]

    assert found.sentence.endswith(DROPPED_SCOPE)


async def test_of_an_application_that_is_removed_meanwhile_nothing_is_stored(
    server, demo, refuse, wait, busy
):
    await busy()
    await refuse(demo.client_id, times=100)
    await wait()
    await server.store.commit(Delete(APPLICATIONS, demo.client_id))
    await wait()

    assert len(await stored(server, demo.client_id)) == 50
    assert server.service.held_refusals.waiting == 0


async def test_a_store_that_does_not_answer_ends_no_storing(
    server, demo, refuse, wait, busy, monkeypatch
):
    await busy()

    async def fail(*writes):
        raise Unavailable("away")

    await refuse(demo.client_id, times=60)
    with monkeypatch.context() as patched:
        patched.setattr(server.store, "commit", fail)
        await wait()
    await wait()

    assert len(await stored(server, demo.client_id)) == 10


def test_no_more_wait_than_there_is_room_for():
    held = HeldRefusals()
    for n in range(held_refusals.MAX_WAITING * 2):
        held.hold(f"c{n}", n)
    held.check(held.unchecked_ids(10), {"c2000"})
    for n in range(held_refusals.MAX_WAITING * 2):
        held.hold("c2000", n)

    assert held.waiting <= held_refusals.MAX_WAITING
    assert [number for _, number in held.take(1000)] == [*range(3800, 4000)]
