"""Sealing: gapless positions in each stream, and a chain that shows every change."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from idp.audit import chain, failure_events, sealing, verification
from idp.audit.event_types import STREAMS, stream_of
from idp.audit.verification import Anchor
from idp.background import schedule as background_schedule
from idp.limits.recent_failures import PERIOD
from idp.records import AUDIT_HEADS, AUDIT_KEYS, EVENTS, LEASES, Event
from storage import Delete, Insert, Unknown, Update
from tests.support.store import lost_answers
from tests.support.store.auditing import events_in, sealed_in, store_events
from tests.support.store.both_stores import on_both_stores, store_as_marked  # noqa: F401 - a fixture


@pytest.fixture
def service(server):
    return server.service


async def positions(service) -> dict[str, list[int]]:
    return {name: [each.position for each in await sealed_in(service, name)] for name in STREAMS}


def gapless(found: dict[str, list[int]]) -> bool:
    return all(numbers == list(range(1, len(numbers) + 1)) for numbers in found.values())


async def faults(service, anchors=()) -> dict[str, int]:
    """The first position that does not hold, by stream."""
    found = await verification.verify(service, anchors)
    return {each.stream: each.fault_position for each in found if each.fault is not None}


@on_both_stores
async def test_events_get_the_next_positions_of_their_stream(service):
    await store_events(service, 3, type="user.created")
    await store_events(service, 2, type="session.opened")
    await sealing.seal(service)
    await store_events(service, 1, type="session.ended")
    await sealing.seal(service)
    found = await positions(service)

    assert gapless(found)
    assert found["access"] == [1, 2, 3]
    assert len(found["change"]) > 3  # those of the first start, too
    assert not found["failure"]
    assert await faults(service) == {}


@pytest.mark.parametrize(
    ("type", "stream"),
    [
        ("user.created", "change"),
        ("instance.created", "change"),
        ("a_later.release", "change"),
        ("session.opened", "access"),
        ("authorization.revoked", "access"),
        ("consent.given", "access"),
        ("device.allowed", "access"),
        ("token.exchanged", "access"),
        ("token.impersonation_refused", "failure"),
        ("user.sign_in.failed", "failure"),
        ("network.slowed", "failure"),
    ],
)
def test_each_type_belongs_to_one_stream(type, stream):
    assert stream_of(type) == stream


async def test_an_event_that_is_seen_late_gets_the_next_position(service):
    await store_events(service, 2, type="session.opened")
    await sealing.seal(service)
    (late,) = await store_events(service, 1, type="session.opened", earlier=timedelta(minutes=5))
    await sealing.seal(service)

    assert (await service.store.get(EVENTS, late.id)).position == 3
    assert await faults(service) == {}


@on_both_stores
async def test_more_than_one_unit_holds_are_sealed_in_one_turn(service):
    await store_events(service, 450, type="session.opened")
    await sealing.seal(service)

    assert (await positions(service))["access"] == list(range(1, 451))
    assert not await sealing.has_unsealed(service)


@pytest.mark.promise("audit: positions")
@on_both_stores
async def test_sealers_side_by_side_give_each_position_once(service):
    await store_events(service, 450, type="session.opened")
    while await sealing.has_unsealed(service):
        await asyncio.gather(*(sealing.seal_some(replace(service)) for _ in range(4)))

    assert gapless(await positions(service))
    assert await faults(service) == {}


async def test_a_seal_whose_answer_was_lost_counts_once(service, monkeypatch):
    await store_events(service, 3, type="session.opened")
    lost_answers.lose(service.store, monkeypatch)
    await sealing.seal(service)

    assert (await positions(service))["access"] == [1, 2, 3]
    assert await faults(service) == {}


async def test_a_turn_of_the_schedule_writes_nothing_when_all_is_sealed(service):
    job = background_schedule.JOBS["audit seal"]
    await background_schedule.take_turn(service, "audit seal", job)
    service.clock.advance(5)

    assert not await background_schedule.take_turn(service, "audit seal", job)
    assert [lease.id async for lease in service.store.scan(LEASES)] == []


async def test_nothing_is_sealed_with_a_new_key_when_the_key_is_gone(service):
    await sealing.seal(service)
    await service.store.commit(Delete(AUDIT_KEYS, "chain"))
    await store_events(service, 1, type="session.opened")

    with pytest.raises(sealing.ChainLost):
        await sealing.seal(service)
    assert await sealing.has_unsealed(service)


async def test_chains_that_another_process_begins_meanwhile_are_not_lost(service, monkeypatch):
    await sealing.seal(service)
    get_many, calls = service.store.get_many, 0

    async def a_part(keys):
        nonlocal calls
        calls += 1
        found = await get_many(keys)
        return [None, *found[1:]] if calls == 1 else found

    monkeypatch.setattr(service.store, "get_many", a_part)
    assert await sealing.read_state(service) is not None


class TestCountsOfRefusedAttempts:
    """They are sealed when they no longer grow."""

    def refuse(self, service, times=1):
        for _ in range(times):
            failure_events.client(service, "shop", "192.0.2.1")

    async def test_the_first_is_sealed_at_once_and_the_sum_once_it_is_over(self, service):
        self.refuse(service, 3)
        await failure_events.flush(service)
        service.clock.advance(60)
        await failure_events.flush(service)
        await sealing.seal(service)
        early = await events_in(service, "failure")
        self.refuse(service)
        service.clock.advance(PERIOD)
        await failure_events.flush(service)
        await sealing.seal(service)
        sealed = await events_in(service, "failure")

        assert [dict(each.payload)["count"] for each in early] == ["1"]
        assert [dict(each.payload)["count"] for each in sealed] == ["1", "3"]
        assert await faults(service) == {}

    async def test_a_sum_that_no_longer_changes_is_final_at_its_end(self, service):
        self.refuse(service, 2)
        service.clock.advance(60)
        await failure_events.flush(service)
        service.clock.advance(PERIOD)
        await failure_events.flush(service)
        await sealing.seal(service)

        assert len(await events_in(service, "failure")) == 2

    async def test_a_sum_of_a_killed_process_is_sealed_later(self, service):
        self.refuse(service, 2)
        service.clock.advance(60)
        await failure_events.flush(service)
        await failure_events.finish_abandoned(service)
        await sealing.seal(service)
        assert len(await events_in(service, "failure")) == 1

        service.clock.advance(2 * PERIOD)
        await failure_events.finish_abandoned(service)
        await sealing.seal(service)
        assert len(await events_in(service, "failure")) == 2

    async def test_a_count_of_the_older_version_is_sealed_after_it_can_grow(self, service):
        await store_events(service, 1, type="client.authentication_failed")
        await store_events(service, 1, type="session.opened")
        await sealing.seal(service)
        assert [len(each) for each in (await positions(service)).values()][1:] == [1, 0]

        service.clock.advance(timedelta(minutes=16))
        await sealing.seal(service)
        assert (await positions(service))["failure"] == [1]

    async def test_a_lost_answer_to_the_last_update_adds_no_event(self, service, monkeypatch):
        self.refuse(service, 2)
        service.clock.advance(60)
        await failure_events.flush(service)
        service.clock.advance(PERIOD)
        with monkeypatch.context() as patch:
            lost_answers.lose(service.store, patch)
            with pytest.raises(Unknown):
                await failure_events.flush(service)
        await failure_events.flush(service)
        await sealing.seal(service)

        assert len(await events_in(service, "failure")) == 2


async def tampered(service, change: str, event: Event, other: Event) -> None:
    """Change sealed events as somebody can who writes into the database."""
    if change == "changed":
        await service.store.commit(Update(EVENTS, event.id, set={"actor": "nobody"}))
    elif change == "payload":
        await service.store.commit(Update(EVENTS, event.id, set={"payload": [("a", "z")]}))
    elif change == "removed":
        await service.store.commit(Delete(EVENTS, event.id))
    elif change == "added":
        added = Event(**{name: getattr(event, name) for name in event.__struct_fields__})
        added.id = "added"
        await service.store.commit(Insert(EVENTS, added))
    else:
        await service.store.commit(
            Update(EVENTS, event.id, set={"position": other.position, "chain": other.chain}),
            Update(EVENTS, other.id, set={"position": event.position, "chain": event.chain}),
        )


@pytest.mark.promise("audit: chain")
@pytest.mark.parametrize("change", ["changed", "payload", "removed", "added", "swapped"])
async def test_a_change_of_sealed_events_is_found_at_its_position(service, change):
    await store_events(service, 30, type="session.opened", payload=[("a", "b")])
    await sealing.seal(service)
    sealed = await sealed_in(service, "access")
    await tampered(service, change, sealed[14], sealed[20])

    assert await faults(service) in ({"access": 15}, {"access": 16 if change == "added" else 15})


@pytest.mark.parametrize("index", [0, -1])
async def test_the_first_and_the_last_event_of_a_stream_are_missed(service, index):
    await store_events(service, 3, type="session.opened")
    await sealing.seal(service)
    removed = (await sealed_in(service, "access"))[index]
    await service.store.commit(Delete(EVENTS, removed.id))

    assert await faults(service) == {"access": removed.position}


async def test_equal_payloads_have_different_digests(service):
    one, two = await store_events(service, 2, type="session.opened", payload=[("a", "b")])
    await sealing.seal(service)
    digests = {
        chain.payload_digest(await service.store.get(EVENTS, each.id)) for each in (one, two)
    }

    assert len(digests) == 2


async def test_an_anchor_shows_that_the_newest_events_were_removed(service):
    await store_events(service, 5, type="session.opened")
    await sealing.seal(service)
    head = await service.store.get(AUDIT_HEADS, "access")
    *_, fourth, fifth = await sealed_in(service, "access")
    await service.store.commit(
        Delete(EVENTS, fifth.id),
        Update(AUDIT_HEADS, "access", set={"position": 4, "chain": fourth.chain}),
    )

    assert await faults(service) == {}
    assert await faults(service, [Anchor("access", head.position, head.chain)]) == {"access": 5}


async def test_an_anchor_shows_another_chain(service):
    await store_events(service, 5, type="session.opened")
    await sealing.seal(service)
    third = (await sealed_in(service, "access"))[2]

    assert await faults(service, [Anchor("access", 3, third.chain)]) == {}
    assert await faults(service, [Anchor("access", 3, "1.other")]) == {"access": 3}


async def test_a_chain_of_another_key_does_not_hold(service):
    await store_events(service, 2, type="session.opened")
    await sealing.seal(service)
    first, second = await sealed_in(service, "access")
    forged = chain.value(b"k" * 32, first.chain, second)
    await service.store.commit(
        Update(EVENTS, second.id, set={"chain": forged}),
        Update(AUDIT_HEADS, "access", set={"chain": forged}),
    )

    assert await faults(service) == {"access": 2}


@on_both_stores
async def test_events_may_be_sealed_while_they_are_verified(service, monkeypatch):
    await store_events(service, 250, type="session.opened")
    await sealing.seal(service)
    find = service.store.find

    async def with_more(collection, where=None, **options):
        page = await find(collection, where, **options)
        if where == {"stream": "access"}:
            with monkeypatch.context() as patch:
                patch.setattr(service.store, "find", find)
                await store_events(service, 1, type="session.opened")
                await sealing.seal(service)
        return page

    monkeypatch.setattr(service.store, "find", with_more)
    assert await faults(service) == {}
