"""Erasure: the payloads of a person's events go, and the chain still holds."""

from __future__ import annotations

import pytest

from idp.audit import erasure, failure_events, sealing, verification
from idp.foundation.errors import NotFound
from idp.records import EVENTS
from storage import Delete, Unavailable
from tests.support.store.auditing import store_events
from tests.support.store.both_stores import on_both_stores, store_as_marked  # noqa: F401

NETWORK = [("network", "192.0.2.0/24")]


@pytest.fixture
def service(server):
    return server.service


async def with_payload(service, **values) -> set[str]:
    found = [each async for each in service.store.scan(EVENTS, values)]
    return {each.id for each in found if each.payload}


async def erasures(service) -> list:
    return [each async for each in service.store.scan(EVENTS) if each.type == erasure.ERASED]


async def verified(service) -> dict[str, int]:
    found = await verification.verify(service)
    assert not [each for each in found if each.fault]
    return {each.stream: each.erased for each in found}


async def events_of_ada(service, n):
    """Events about the user, and of her session."""
    await store_events(service, n, "user.sign_in.failed", payload=NETWORK, is_final=True)
    await store_events(service, n, "session.opened", record_id="s", payload=NETWORK)
    await sealing.seal(service)


@pytest.mark.promise("audit: erasure")
@on_both_stores
async def test_the_payloads_of_a_person_are_erased_and_the_chain_holds(service):
    await events_of_ada(service, 250)
    done = await erasure.erase(service, "ada", "admin")
    await sealing.seal(service)

    assert (done.events, done.erased, done.unsealed) == (500, 500, 0)
    assert not await with_payload(service, record_id="ada")
    assert not await with_payload(service, actor="ada")
    assert await verified(service) == {"change": 0, "access": 250, "failure": 250}
    (change,) = await erasures(service)
    assert (change.stream, change.actor, change.record_id) == ("change", "admin", "ada")


async def test_nothing_is_left_by_which_the_payload_could_be_guessed(service):
    await events_of_ada(service, 1)
    await erasure.erase(service, "ada", "admin")
    erased = [each async for each in service.store.scan(EVENTS, {"actor": "ada"})]

    assert {(each.salt, *each.payload) for each in erased} == {(None,)}
    assert all(each.payload_digest for each in erased)


async def test_events_of_others_and_what_the_person_changed_elsewhere_stay(service):
    await store_events(service, 1, "user.created", record_id="bob", payload=[("a", "b")])
    await events_of_ada(service, 1)
    others = await with_payload(service, record_id="bob")
    await erasure.erase(service, "ada", "admin")

    assert len(others) == 1
    assert await with_payload(service, record_id="bob") == others


async def test_a_repeated_erasure_changes_nothing(service):
    await events_of_ada(service, 2)
    await erasure.erase(service, "ada", "admin")
    again = await erasure.erase(service, "ada", "admin")

    assert again.erased == 0
    assert len(await erasures(service)) == 1


@pytest.mark.full
async def test_an_erasure_that_failed_is_completed_by_the_next(service, monkeypatch):
    await events_of_ada(service, 250)
    commit, units = service.store.commit, 0

    async def fails_later(*writes):
        nonlocal units
        units += 1
        if units == 2:
            raise Unavailable("no server answers")
        await commit(*writes)

    with monkeypatch.context() as patch:
        patch.setattr(service.store, "commit", fails_later)
        with pytest.raises(Unavailable):
            await erasure.erase(service, "ada", "admin")
    assert len(await erasures(service)) == 1
    done = await erasure.erase(service, "ada", "admin")

    assert done.erased == 300
    assert not await with_payload(service, actor="ada")
    await verified(service)


async def test_an_event_that_retention_removes_meanwhile_stops_nothing(service, monkeypatch):
    await events_of_ada(service, 3)
    commit = service.store.commit
    (first, *_) = [each async for each in service.store.scan(EVENTS, {"record_id": "ada"})]

    async def after_removal(*writes):
        monkeypatch.setattr(service.store, "commit", commit)
        await commit(Delete(EVENTS, first.id))
        await commit(*writes)

    monkeypatch.setattr(service.store, "commit", after_removal)
    done = await erasure.erase(service, "ada", "admin")

    assert (done.events, done.erased) == (6, 5)
    assert len(await erasures(service)) == 1


async def test_what_is_not_sealed_is_counted_and_left_for_the_next(service):
    await store_events(service, 1, "user.created", payload=NETWORK)
    await store_events(service, 1, "user.sign_in.failed", payload=NETWORK, stream="open")
    first = await erasure.erase(service, "ada", "admin")
    service.clock.advance(3600)
    await failure_events.finish_abandoned(service)
    second = await erasure.erase(service, "ada", "admin")

    assert (first.erased, first.unsealed) == (1, 1)
    assert (second.erased, second.unsealed) == (1, 0)
    await verified(service)


async def test_a_user_without_events_is_unknown(service):
    with pytest.raises(NotFound):
        await erasure.erase(service, "nobody", "admin")

    assert not await erasures(service)
