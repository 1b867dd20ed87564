"""`--test`: a clock that can be set, and a store that can be reset to its state at the start.

The state of both is in the store, so that several processes agree: each of them reads the clock's
before it answers a request.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, Final

import msgspec

from idp.foundation.clock import ShiftedClock
from idp.foundation.errors import IdpError
from idp.records import ALL, INITIAL_RECORDS, TRIALS, InitialRecord, TestModeState
from idp.service import Service
from storage import COUNTERS, Collection, Conflict, Delete, Insert, Record, Stale, Update, Write

COLLECTIONS: Final = (TRIALS, INITIAL_RECORDS)
MAX_AHEAD: Final = timedelta(days=36_500)
_ID: Final = "trial"
_SAVED: Final[tuple[Collection[Any], ...]] = ALL
_RESET: Final[tuple[Collection[Any], ...]] = (*ALL, COUNTERS)


class TooFar(IdpError):
    """The clock can't be set more than a hundred years ahead."""

    error_code = "test.too_far"


async def begin(service: Service) -> None:
    """Saves a copy of the current contents of the store in the store itself, which `reset`
    restores."""
    with suppress(Conflict):  # from an earlier start, whose clock continues
        await service.store.commit(Insert(TRIALS, TestModeState(id=_ID)))
    await _apply(
        service,
        [
            Delete(INITIAL_RECORDS, record.id)
            async for record in service.store.scan(INITIAL_RECORDS)
        ],
    )
    await _apply(
        service, [Insert(INITIAL_RECORDS, record) async for record in _all_records(service)]
    )


async def _all_records(service: Service) -> AsyncIterator[InitialRecord]:
    for collection in _SAVED:
        async for record in service.store.scan(collection):
            yield InitialRecord(
                id=service.random.id(),
                collection=collection.name,
                json=msgspec.json.encode(record).decode(),
            )


async def synchronise(service: Service) -> None:
    """Sets this process's clock to the test time in the store, which any process may have
    advanced, and forgets cached settings, which any process may have reset."""
    service.settings_cache.forget()
    state = await service.store.get(TRIALS, _ID)
    if state is not None and isinstance(service.clock, ShiftedClock):
        service.clock.ahead = timedelta(milliseconds=state.ahead_ms)


async def advance(service: Service, by: timedelta) -> datetime:
    """Sets the clock of all processes ahead by a duration, and returns the new time. Raises
    TooFar."""
    state = await service.store.get(TRIALS, _ID)
    if state is None:
        raise LookupError("the service was not started for tests")
    after = state.ahead_ms + by // timedelta(milliseconds=1)
    if timedelta(milliseconds=after) > MAX_AHEAD:
        raise TooFar("the clock is set at most a hundred years ahead")
    try:
        await service.store.commit(
            Update(TRIALS, _ID, set={"ahead_ms": after}, expect={"ahead_ms": state.ahead_ms})
        )
    except Stale:  # another call has advanced it too: both add up
        return await advance(service, by)
    await synchronise(service)
    return service.clock.now()


async def reset(service: Service) -> None:
    """Restores the store's contents at the start, and sets the clock to the machine's time."""
    saved = {
        (initial.collection, record.id): record
        async for initial in service.store.scan(INITIAL_RECORDS)
        for record in [msgspec.json.decode(initial.json, type=_RECORDS[initial.collection])]
    }
    unchanged, removals = set(), []
    for collection in _RESET:
        async for record in service.store.scan(collection):
            if record == saved.get((collection.name, record.id)):
                unchanged.add((collection.name, record.id))
            else:
                removals.append(Delete(collection, record.id))
    await _apply(service, removals)
    missing = [(key, record) for key, record in saved.items() if key not in unchanged]
    await _apply(
        service, [Insert(_COLLECTIONS_BY_NAME[name], record) for (name, _), record in missing]
    )
    await service.store.commit(Update(TRIALS, _ID, set={"ahead_ms": 0}))
    await synchronise(service)


async def _apply(service: Service, writes: list[Any]) -> None:
    """Commits each write as a unit of its own; one that another process has committed already is
    no error."""
    units: list[tuple[Write, ...]] = [(write,) for write in writes]
    for outcome in await service.store.commit_each(units):
        if outcome is not None and not isinstance(outcome, Conflict):
            raise outcome


_COLLECTIONS_BY_NAME: Final[dict[str, Collection[Any]]] = {each.name: each for each in _RESET}
_RECORDS: Final[dict[str, type[Record]]] = {each.name: each.record for each in _RESET}
