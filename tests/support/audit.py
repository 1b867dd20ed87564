"""The audit log held against the records: one change, one event, one step of the sequence."""

from __future__ import annotations

from collections import defaultdict

from idp.records import ALL, EVENTS


async def events_agree(store) -> None:
    """Assert that each record has exactly the events that its sequence counts.

    Of authorizations, whose sequence begins at 0, those that were never changed have none.
    """
    told, counted = defaultdict(list), {}
    async for event in store.scan(EVENTS):
        told[event.collection, event.record_id].append(event.sequence)
    for collection in ALL:
        async for record in store.scan(collection):
            if collection is not EVENTS and getattr(record, "sequence", 0):
                steps = range(1, record.sequence + 1)
                counted[collection.name, record.id] = list(steps)
    assert {record: sorted(steps) for record, steps in told.items()} == counted
