"""Retention: old events are removed from the beginning of a stream, and the chain still holds."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from msgspec import structs

from idp.audit import anchors, event_streams, retention, sealing, upkeep, verification
from idp.audit.verification import Anchor
from idp.foundation import redaction
from idp.records import AUDIT_FLOORS, AUDIT_HEADS, EVENTS, AuditFloor
from storage import Insert, Update
from tests.support.store.auditing import sealed_in, store_events
from tests.support.store.both_stores import on_both_stores, store_as_marked  # noqa: F401

DAY = timedelta(days=1)


@pytest.fixture
def service(server):
    """Events of access are stored for 10 days, those of refused attempts for 20."""
    config = structs.replace(server.service.config, audit_access_days=10, audit_failure_days=20)
    return replace(server.service, config=config)


async def sealed(service, n, type="session.opened", **fields):
    events = await store_events(service, n, type, **fields)
    await sealing.seal(service)
    return events


async def access(service) -> list[int]:
    return [each.position for each in await sealed_in(service, "access")]


async def faults(service, known=()):
    found = await verification.verify(service, known)
    return {each.stream: each.fault_position for each in found if each.fault is not None}


@pytest.mark.full
@pytest.mark.promise("audit: retention")
@on_both_stores
async def test_old_events_go_and_the_chain_of_the_others_holds(service):
    await sealed(service, 600)
    service.clock.advance(9 * DAY)
    await sealed(service, 3)
    service.clock.advance(2 * DAY)
    await retention.remove_old(service)
    await sealed(service, 1)

    assert await access(service) == [601, 602, 603, 604]
    assert await faults(service) == {}
    (removed,) = [e async for e in service.store.scan(EVENTS, {"type": retention.REMOVED})]
    payload = dict(removed.payload)
    assert (payload["stream"], payload["fromPosition"]) == ("access", "1")


async def test_changes_stay_for_ever_by_default(service):
    await sealing.seal(service)
    before = len(await sealed_in(service, "change"))
    service.clock.advance(9000 * DAY)
    await retention.remove_old(service)

    assert len(await sealed_in(service, "change")) == before > 0


async def test_what_is_not_sealed_stays(service):
    await sealed(service, 2)
    (late,) = await store_events(service, 1, "session.opened", earlier=30 * DAY)
    service.clock.advance(11 * DAY)
    await retention.remove_old(service)

    assert await access(service) == []
    assert (await service.store.get(EVENTS, late.id)).position is None
    await sealing.seal(service)
    assert await access(service) == [3]


async def test_a_newer_event_before_an_older_one_keeps_it(service):
    await sealed(service, 1)
    await sealed(service, 1, earlier=30 * DAY)
    await retention.remove_old(service)

    assert await access(service) == [1, 2]


@pytest.mark.promise("audit: retention")
async def test_after_an_upgrade_nothing_goes_for_30_days(service):
    await sealed(service, 2, earlier=500 * DAY)  # events of the version before
    service.clock.advance(29 * DAY)
    await retention.remove_old(service)
    assert await access(service) == [1, 2]

    service.clock.advance(2 * DAY)
    await retention.remove_old(service)
    assert await access(service) == []


async def test_one_event_in_an_hour_says_what_goes(service):
    for _ in range(6):
        await sealed(service, 1)
        service.clock.advance(600)
    service.clock.advance(11 * DAY)
    for _ in range(3):
        await retention.remove_old(service)
        service.clock.advance(60)

    events = [e async for e in service.store.scan(EVENTS, {"type": retention.REMOVED})]
    assert len(events) == 1


async def test_who_removes_too_late_changes_nothing(service, monkeypatch):
    await sealed(service, 3)
    service.clock.advance(11 * DAY)
    find = service.store.find

    async def overtaken(collection, where=None, **options):
        """Another process removes the same events between the reading and the unit."""
        page = await find(collection, where, **options)
        if where == {"stream": "access"}:
            await service.store.commit(Insert(AUDIT_FLOORS, AuditFloor(id="access", floor=1)))
        return page

    monkeypatch.setattr(service.store, "find", overtaken)
    await retention.remove_old(service)

    assert await access(service) == [1, 2, 3]


async def test_a_floor_that_was_moved_by_hand_is_found(service):
    await sealed(service, 3)
    first = (await sealed_in(service, "access"))[0]
    forged = {"floor": 1, "floor_chain": first.chain, "floor_mac": "forged"}
    await service.store.commit(Update(AUDIT_HEADS, "access", set=forged))

    assert await faults(service) == {"access": 1}


@on_both_stores
async def test_a_floor_that_an_earlier_version_stored_in_the_head_counts_and_moves_on(service):
    """Also while that version still runs: after each turn of it the head has the higher floor."""
    for turn in range(2):
        await sealed(service, 3)
        service.clock.advance(11 * DAY)
        await retention.remove_old(service)
        floor = await service.store.get(AUDIT_FLOORS, "access")
        assert floor.floor == 3 * (2 * turn + 1)

        await sealed(service, 3)
        service.clock.advance(11 * DAY)
        await remove_as_before(service)
        assert await access(service) == []
        assert (await event_streams.heads(service))["access"].floor == 3 * (2 * turn + 2)
        assert await faults(service) == {}


async def remove_as_before(service):
    """Removes what is old as versions did that stored the floor in the head."""
    before = await service.store.get(AUDIT_FLOORS, "access")
    await retention.remove_old(service)
    floor = await service.store.get(AUDIT_FLOORS, "access")
    await service.store.commit(
        Update(AUDIT_HEADS, "access", set=without_id(floor)),
        Update(AUDIT_FLOORS, "access", set=without_id(before)),
    )


def without_id(record):
    return {name: value for name, value in structs.asdict(record).items() if name != "id"}


@pytest.mark.full
async def test_events_may_be_removed_while_they_are_verified(service, monkeypatch):
    await sealed(service, 450)
    service.clock.advance(11 * DAY)
    await sealed(service, 1)
    find, calls = service.store.find, []

    async def removing(collection, where=None, **options):
        page = await find(collection, where, **options)
        if where == {"stream": "access"} and not calls:
            calls.append(1)
            await retention.remove_old(service)
        return page

    monkeypatch.setattr(service.store, "find", removing)
    assert await faults(service) == {}


@pytest.fixture
def logged(monkeypatch):
    """The lines of anchors, as they leave the log."""
    lines = []

    class Log:
        def info(self, event, **fields):
            lines.append(redaction.fields(fields))

    monkeypatch.setattr(anchors, "_log", Log())
    return lines


@pytest.mark.promise("audit: anchors")
async def test_heads_are_logged_once_an_hour_and_hold_as_anchors(service, logged):
    await sealed(service, 2)
    await upkeep.maintain(service)
    await sealed(service, 1)
    await upkeep.maintain(service)
    assert {line["stream"] for line in logged} == {"change", "access"}

    service.clock.advance(3600)
    await upkeep.maintain(service)
    await upkeep.maintain(service)
    known = [Anchor(**line) for line in logged]
    assert [a.position for a in known if a.stream == "access"] == [2, 3]
    assert await faults(service, known) == {}


async def test_each_start_but_a_new_one_says_what_goes_and_from_when_on(service, monkeypatch):
    lines = []

    class Log:
        def info(self, event, **fields):
            lines.append(fields)

    monkeypatch.setattr(retention, "_log", Log())
    now = service.clock.now()
    await retention.report(service, now)
    assert lines == []

    await retention.report(service, now - 300 * DAY)
    await sealed(service, 1, earlier=30 * DAY)
    await retention.report(service, now)
    since = (now + 30 * DAY).isoformat(timespec="seconds")
    days = {"change_days": 0, "access_days": 10, "failure_days": 20}
    assert lines == [{"since": since, **days}] * 2
