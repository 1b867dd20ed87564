"""What a program that can write the database, but does not have the master key, can change in the
audit log unnoticed: docs/how-to/observing.md, "What verification finds", says the same."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from msgspec import structs

from idp.audit import anchors, chain, retention, sealing, verification
from idp.records import ALL, AUDIT_FLOORS, AUDIT_HEADS, AUDIT_KEYS, EVENTS, Event
from storage import Delete, Insert, Update
from tests.support.store.auditing import new_event, sealed_in, store_events

PAYLOAD = [("network", "192.0.2.0/24")]
OF_THE_LOG = (EVENTS, AUDIT_FLOORS, AUDIT_HEADS, AUDIT_KEYS)


@pytest.fixture
def service(server):
    """Events of access are stored for 10 days."""
    return replace(
        server.service, config=structs.replace(server.service.config, audit_access_days=10)
    )


async def sealed(service, n: int) -> list[Event]:
    await store_events(service, n, "session.opened", payload=PAYLOAD)
    await sealing.seal(service)
    return await sealed_in(service, "access")


async def faults(service, known=()) -> dict[str, int]:
    """The first position that does not hold, by stream."""
    found = await verification.verify(service, known)
    return {each.stream: each.fault_position for each in found if each.fault is not None}


async def heads(service) -> list:
    return [each async for each in service.store.scan(AUDIT_HEADS)]


async def copy_of(service, *collections) -> dict:
    """All records of these collections, as a copy that somebody took."""
    return {each: [record async for record in service.store.scan(each)] for each in collections}


async def replay(service, copy) -> None:
    """Replaces what the collections have by the copy."""
    for collection, records in copy.items():
        now = [each.id async for each in service.store.scan(collection)]
        assert not any(await service.store.commit_each([[Delete(collection, id)] for id in now]))
        units = [[Insert(collection, each)] for each in records]
        assert not any(await service.store.commit_each(units))


async def change(service, event, **fields) -> None:
    await service.store.commit(Update(EVENTS, event.id, set=fields))


async def insert(service, **fields) -> None:
    event = new_event(service, "session.opened", payload=PAYLOAD)
    await service.store.commit(Insert(EVENTS, structs.replace(event, **fields)))


async def hide_behind_its_digest(service, event) -> None:
    """The true digest, which anyone can compute from the event, beside another payload."""
    digest = chain.payload_digest(event)
    await change(service, event, payload=[("network", "x")], payload_digest=digest)


async def erase_without_the_key(service, event, **fields) -> None:
    digest = chain.payload_digest(event)
    await change(service, event, payload=[], salt=None, payload_digest=digest, **fields)


async def swap(service, one, other) -> None:
    place = {"position": one.position, "chain": one.chain}
    await change(service, one, position=other.position, chain=other.chain)
    await change(service, other, **place)


async def unseal(service, event) -> None:
    await change(service, event, stream=None, position=None, chain=None, actor="other")


async def set_head(service, **fields) -> None:
    await service.store.commit(Update(AUDIT_HEADS, "access", set=fields))


# Of twelve events; the position that is named, before the next event is sealed.
FOUND = {
    "an event changed": (5, lambda s, e: change(s, e[4], actor="other")),
    "a payload changed": (5, lambda s, e: change(s, e[4], payload=[("network", "x")])),
    "a payload behind its digest": (5, lambda s, e: hide_behind_its_digest(s, e[4])),
    "a payload erased": (5, lambda s, e: erase_without_the_key(s, e[4])),
    "a payload erased with a mac": (
        5,
        lambda s, e: erase_without_the_key(s, e[4], erasure_mac="0" * 64),
    ),
    "an event removed": (5, lambda s, e: s.store.commit(Delete(EVENTS, e[4].id))),
    "the first removed": (1, lambda s, e: s.store.commit(Delete(EVENTS, e[0].id))),
    "the last removed": (12, lambda s, e: s.store.commit(Delete(EVENTS, e[-1].id))),
    "two swapped": (5, lambda s, e: swap(s, e[4], e[8])),
    "an event unsealed": (5, lambda s, e: unseal(s, e[4])),
    "an event in another stream": (5, lambda s, e: change(s, e[4], stream="failure")),
    "an event added": (5, lambda s, e: insert(s, stream="access", position=5, chain=e[4].chain)),
    "one added without a position": (0, lambda s, e: insert(s, stream="access")),
    "one added after the last": (13, lambda s, e: insert(s, stream="access", position=13)),
    "the first removed with a floor": (
        1,
        lambda s, e: s.store.commit(
            Delete(EVENTS, e[0].id),
            Update(AUDIT_HEADS, "access", set={"floor": 1, "floor_chain": e[0].chain}),
        ),
    ),
    "the head set back": (5, lambda s, e: set_head(s, position=4, chain=e[3].chain)),
    "the head set forward": (13, lambda s, e: set_head(s, position=40)),
}


@pytest.mark.promise("audit: chain")
@pytest.mark.parametrize("way", FOUND)
async def test_a_change_is_found_also_after_more_events_were_sealed(service, way):
    position, act = FOUND[way]
    await act(service, await sealed(service, 12))
    at_once = await faults(service)
    await sealed(service, 1)
    later = await faults(service)

    assert at_once.get("access") == position
    assert "access" in later


@pytest.mark.promise("audit: chain")
@pytest.mark.parametrize("collection", [EVENTS, AUDIT_HEADS], ids=lambda each: each.name)
async def test_an_older_copy_of_one_collection_is_found(service, collection):
    await sealed(service, 5)
    copy = await copy_of(service, collection)
    await sealed(service, 5)
    await replay(service, copy)

    assert await faults(service) == {"access": 6}


@pytest.mark.promise("audit: chain")
async def test_a_chain_without_its_key_or_a_head_is_reported(service):
    for lost in (Delete(AUDIT_KEYS, "chain"), Delete(AUDIT_HEADS, "access")):
        await sealed(service, 3)
        copy = await copy_of(service, *OF_THE_LOG)
        await service.store.commit(lost)
        with pytest.raises(sealing.ChainLost):
            await verification.verify(service)
        await replay(service, copy)


async def newest_removed_with_the_head_of_then(service, copy, events) -> None:
    await service.store.commit(*(Delete(EVENTS, each.id) for each in events[5:]))
    await replay(service, {AUDIT_HEADS: copy[AUDIT_HEADS]})


async def all_replayed(service, copy, events) -> None:
    await replay(service, copy)


async def begun_again(service, copy, events) -> None:
    """No event is sealed any more, and there is neither key nor head, as in a new installation."""
    await replay(service, {AUDIT_HEADS: [], AUDIT_KEYS: []})
    fields = dict.fromkeys(("stream", "position", "chain", "salt"))
    async for event in service.store.scan(EVENTS):
        await change(service, event, **fields)


@pytest.mark.promise("audit: anchors")
@pytest.mark.parametrize(
    "act",
    [newest_removed_with_the_head_of_then, all_replayed, begun_again],
    ids=lambda each: each.__name__,
)
@pytest.mark.parametrize("later", [0, 20])
async def test_what_the_store_alone_does_not_show_an_anchor_does(service, act, later):
    await sealed(service, 5)
    copy = await copy_of(service, *OF_THE_LOG)
    events = await sealed(service, 5)
    anchored = verification.anchors_of(await heads(service))
    await act(service, copy, events)
    await sealed(service, later)

    assert await faults(service) == {}
    assert 6 <= (await faults(service, anchored))["access"] <= 10


async def test_what_is_not_sealed_yet_can_be_changed_unnoticed(service):
    await sealed(service, 5)
    changed, removed = await store_events(service, 2, "session.opened", payload=PAYLOAD)
    await change(service, changed, actor="other")
    await service.store.commit(Delete(EVENTS, removed.id))
    await insert(service, actor="other")
    anchored = verification.anchors_of(await heads(service))
    await sealed(service, 1)

    assert await faults(service, anchored) == {}


class TestRetentionServesNoAttacker:
    """Retention removes by the time of events, which a changed event does not have."""

    async def remove(self, service):
        logged = []

        class Log:
            error = staticmethod(lambda event, **fields: logged.append((event, fields)))

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(retention, "_log", Log)
            await retention.remove_old(service)
        return logged

    async def test_events_that_were_made_old_stay_and_are_found(self, service):
        long_ago = datetime(2001, 1, 1, tzinfo=UTC)
        for event in await sealed(service, 12):
            await change(service, event, at=long_ago)
        logged = await self.remove(service)

        assert logged == [("an event was changed", {"stream": "access", "position": 1})]
        assert len(await sealed_in(service, "access")) == 12
        assert await faults(service) == {"access": 1}

    async def test_a_changed_event_goes_once_a_true_one_after_it_is_old(self, service):
        events = await sealed(service, 12)
        await change(service, events[4], actor="other")
        await service.store.commit(Delete(EVENTS, events[7].id))
        service.clock.advance(timedelta(days=11))
        await sealed(service, 1)
        logged = await self.remove(service)

        assert logged == [("an event was changed", {"stream": "access", "position": 5})]
        assert [each.position for each in await sealed_in(service, "access")] == [13]
        assert await faults(service) == {}

    async def test_the_last_events_stay_if_they_were_changed(self, service):
        events = await sealed(service, 3)
        await change(service, events[2], actor="other")
        service.clock.advance(timedelta(days=11))
        await self.remove(service)

        assert [each.position for each in await sealed_in(service, "access")] == [3]
        assert await faults(service) == {"access": 3}


async def test_no_stored_instant_ends_the_anchors_in_the_log(service, monkeypatch):
    await sealed(service, 3)
    logged = []
    monkeypatch.setattr(anchors._log, "info", lambda event, **fields: logged.append(fields))
    await set_head(service, anchored_at=service.clock.now() + timedelta(days=3650))
    await anchors.write(service)

    assert ("access", 3) in [(each["stream"], each["position"]) for each in logged]


def test_the_collections_of_the_log_are_all_that_are_copied():
    assert {each.name for each in ALL if each.name.startswith("audit")} | {"events"} == {
        each.name for each in OF_THE_LOG
    }
