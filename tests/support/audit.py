"""The audit log held against the records: one change, one event, one step of the sequence."""

from __future__ import annotations

from collections import defaultdict

from idp.records import ALL, EVENTS


async def events_of(store, record_id):
    """What was noted of a record, in the order of its changes."""
    page = await store.find(EVENTS, {"record_id": record_id}, order="at")
    return sorted(page.records, key=lambda event: event.sequence)


async def events_agree(store) -> None:
    """Assert that each record has exactly the events that its sequence counts.

    Of authorizations, whose sequence begins at 0, those that were never changed have none. A
    record that was deleted has its events still; one that was made again after that begins at 1.
    """
    told, counted = defaultdict(list), defaultdict(list)
    async for event in store.scan(EVENTS):
        if event.sequence == 0:  # of a refused attempt, which changed nothing
            continue
        told[event.collection, event.record_id].append(event.sequence)
        if event.type.endswith(".deleted"):
            counted[event.collection, event.record_id] += range(1, event.sequence + 1)
    for collection in ALL:
        async for record in store.scan(collection):
            if collection is not EVENTS and getattr(record, "sequence", 0):
                counted[collection.name, record.id] += range(1, record.sequence + 1)
    wrong = {
        name: (sorted(told[name]), sorted(counted[name]))
        for name in {*told, *counted}
        if sorted(told[name]) != sorted(counted[name])
    }
    assert not wrong, f"events and the steps that records count: {wrong}"
