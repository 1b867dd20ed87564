"""One change is one event and one step: of every call that changes something."""

from __future__ import annotations

import pytest

from idp.audit.event_types import TYPES
from tests.support.management.api_samples import CALLS
from tests.support.management.callers import is_admitted
from tests.support.store.stored import everything

CHANGING = [name for name in CALLS if not name.startswith("GET ") and "_search" not in name]


def steps(before, after):
    """The steps that each record made, by collection and id."""
    for collection, records in after.items():
        for id, record in records.items():
            old = before[collection].get(id)
            start = old.sequence if old is not None and hasattr(old, "sequence") else 0
            if collection != "events" and hasattr(record, "sequence"):
                for step in range(start + 1, record.sequence + 1):
                    yield collection, id, step


@pytest.mark.promise("organization: sequence")
@pytest.mark.full
@pytest.mark.parametrize("call", CHANGING)
async def test_each_step_of_a_record_is_one_event_and_the_answer_has_the_last(server, world, call):
    target = await world.target(CALLS[call])
    before = await everything(server.store)
    page = await target.by(world.owner, **world.here)
    await server.service.background_tasks.finished()  # a job that goes on makes steps of its own
    after = await everything(server.store)

    assert is_admitted(page), page.text
    told = [event for id, event in after["events"].items() if id not in before["events"]]
    seen = [(event.collection, event.record_id, event.sequence) for event in told]
    made = set(steps(before, after))
    assert len(set(seen)) == len(seen)
    assert made <= set(seen)
    assert all(event.type in TYPES for event in told), [event.type for event in told]
    gone = {one for one in seen if one[1] not in after.get(one[0], {})}
    assert set(seen) - made <= gone | {one for one in seen if one[0] in ("app_keys", "user_keys")}
    sequence = page.json().get("details", {}).get("sequence") if page.status == 200 else None
    if told and sequence is not None:
        assert int(sequence) in {event.sequence for event in told}
