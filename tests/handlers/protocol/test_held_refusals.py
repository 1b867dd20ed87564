"""Of a flood of refusals, the newest 200 of each application are kept for `idp explain`."""

from __future__ import annotations

import pytest

from idp.limits import held_refusals
from idp.limits.held_refusals import HeldRefusals
from idp.oauth.endpoints import refusal_records
from idp.oauth.endpoints.refusal_records import DROPPED_SCOPE, RefusedRequest
from idp.oauth.errors import InvalidRequest
from idp.records import APPLICATIONS, REFUSALS
from storage import Conflict, Delete, InvalidValue, Unavailable, Unit, Unknown

NETWORK = "192.0.2.1"
SCOPES = ("scope", "openid offline_access")


@pytest.fixture
def refuse(server):
    async def refuse(client_id, number=0, *pairs, times=1):
        for n in range(number, number + times):
            sent = [("client_id", client_id), *pairs] if client_id else [*pairs]
            refused = RefusedRequest(f"r{n}", "authorize", "GET", sent, sender=NETWORK)
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


async def test_invented_client_ids_push_out_no_refusal_of_an_application(
    server, demo, refuse, wait, busy
):
    await busy()
    for n in range(1050):
        await refuse(f"unknown{n}", n)
    await refuse(demo.client_id, 5000, times=3)
    for n in range(1050, 2100):
        await refuse(f"unknown{n}", n)
    await wait()

    assert sorted(await stored(server, demo.client_id)) == ["r5000", "r5001", "r5002"]
    assert server.service.held_refusals.waiting == 0


async def test_a_store_that_fails_while_too_many_ids_wait_changes_no_answer(
    server, demo, refuse, wait, busy, monkeypatch
):
    await busy()

    async def fail(keys):
        raise Unavailable("away")

    monkeypatch.setattr(held_refusals, "MAX_UNCHECKED", 2)
    await refuse("unknown", times=2)
    with monkeypatch.context() as patched:
        patched.setattr(server.store, "get_many", fail)
        await refuse(demo.client_id)

    assert server.service.held_refusals.waiting == 2


@pytest.fixture
def away(server, wait, monkeypatch):
    """A second in which each commit has this outcome after it was applied, or was not."""

    async def away(error, *, is_applied=False):
        commit = server.store.commit

        async def failed(*writes):
            if is_applied:
                await commit(*writes)
            raise error

        with monkeypatch.context() as patched:
            patched.setattr(server.store, "commit", failed)
            await wait()

    return away


async def test_what_a_failed_commit_did_not_store_is_stored_later(
    server, demo, refuse, wait, busy, away
):
    await busy()
    await refuse(demo.client_id, times=60)
    await away(Unavailable("away"))
    await wait(2)

    assert len(await stored(server, demo.client_id)) == 60
    assert server.service.held_refusals.waiting == 0


async def test_what_a_failed_commit_did_not_replace_is_replaced_later(
    server, demo, refuse, wait, busy, away
):
    await busy()
    await refuse(demo.client_id, times=200)
    await wait(4)
    await refuse(demo.client_id, 1000, times=200)
    await away(Unavailable("away"))
    await wait(4)

    assert set(await stored(server, demo.client_id)) == {f"r{n}" for n in range(1000, 1200)}


@pytest.mark.parametrize("error", [Unknown(Unit("u", ())), Conflict("refusals", "id")])
async def test_what_was_stored_although_its_answer_was_lost_is_stored_once(
    server, demo, refuse, wait, busy, away, error
):
    await busy()
    await refuse(demo.client_id, times=40)
    await away(error, is_applied=True)
    await refuse(demo.client_id, 1000, times=10)
    await wait()

    assert len(await stored(server, demo.client_id)) == 50
    assert server.service.held_refusals.waiting == 0


async def test_what_the_store_refuses_for_good_does_not_delay_the_others(
    server, demo, refuse, wait, busy, away
):
    await busy()
    await refuse(demo.client_id, times=50)
    await away(InvalidValue("too long"))
    await refuse(demo.client_id, 1000)
    await wait()

    assert await stored(server, demo.client_id) == ["r1000"]


def test_no_more_wait_than_there_is_room_for():
    held, refusals = HeldRefusals(), held_refusals
    for n in range(refusals.MAX_UNCHECKED * 2):
        held.hold(f"c{n}", object())
    unchecked = held.waiting
    for client in (f"k{n}" for n in range(12)):
        held.check([client], [client])
        for _ in range(refusals.MAX_OF_CLIENT * 2):
            held.hold(client, object())

    assert unchecked == refusals.MAX_UNCHECKED
    assert held.waiting == refusals.MAX_UNCHECKED + refusals.MAX_WAITING


def test_an_application_whose_refusals_wait_is_not_forgotten_for_one_without(monkeypatch):
    monkeypatch.setattr(held_refusals, "MAX_CLIENTS", 2)
    held = HeldRefusals()
    for client in "ab":
        held.check([client], [client])
    held.hold("a", 1)
    held.check(["c"], ["c"])

    assert held.next_ones(10) == [("a", 1)]
    assert held.replaced_ids("b", 1000) == []


def test_a_refusal_that_was_pushed_out_while_it_was_stored_ends_no_other():
    held = HeldRefusals()
    held.check(["a"], ["a"])
    for n in range(200):
        held.hold("a", n)
    ((_, first),) = held.next_ones(1)
    held.hold("a", 200)
    held.end("a", first, "id")

    assert held.next_ones(1) == [("a", 1)]
    assert held.waiting == 200
