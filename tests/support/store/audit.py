"""The audit log compared with the records: one change, one event, one step of the sequence."""

from __future__ import annotations

from collections import defaultdict

from idp.records import ALL, EVENTS

EXPIRING = {collection.name for collection in ALL if collection.expires}


async def events_of(store, record_id):
    """The events of a record, in the order of its changes."""
    page = await store.find(EVENTS, {"record_id": record_id}, order="at")
    return sorted(page.records, key=lambda event: event.sequence)


async def events_agree(store) -> None:
    """Assert that each record has exactly the events that its sequence counts.

    Of authorizations, whose sequence begins at 0, those that were never changed have none. A
    record that was deleted has its events still; one that was made again after that begins at 1.
    One that has expired meanwhile has its events, and counts nothing any more.
    """
    announced, counted = await _announced(store), defaultdict(list)
    there = set()
    for collection in ALL:
        async for record in store.scan(collection):
            there.add((collection.name, record.id))
            if collection is not EVENTS and getattr(record, "sequence", 0):
                counted[collection.name, record.id] += range(1, record.sequence + 1)
    for name, last in (await _deleted(store)).items():
        counted[name] += [number for each in last for number in range(1, each + 1)]
    expired = {name for name in announced.keys() - there - counted.keys() if name[0] in EXPIRING}
    wrong = {
        name: (sorted(announced[name]), sorted(counted[name]))
        for name in {*announced, *counted} - expired
        if sorted(announced[name]) != sorted(counted[name])
    }
    assert not wrong, f"events and the steps that records count: {wrong}"


async def _announced(store) -> dict:
    """The steps that events tell of, by record; not of refused attempts, which changed nothing."""
    announced = defaultdict(list)
    async for event in store.scan(EVENTS):
        if event.sequence:
            announced[event.collection, event.record_id].append(event.sequence)
    return announced


async def _deleted(store) -> dict:
    """The last step of each record that was deleted."""
    last = defaultdict(list)
    async for event in store.scan(EVENTS):
        if event.sequence and event.type.endswith(".deleted"):
            last[event.collection, event.record_id].append(event.sequence)
    return last
