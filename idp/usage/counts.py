"""Counts what happens, by organization and for the whole installation, in hours and days of UTC.

This process counts in memory, and `idp/usage/flushing.py` adds its counts to the counters of the
store every ten seconds and when the process ends. So counting takes part in no unit of writes and
causes no read. A killed process loses its last ten seconds, and a write whose outcome is unknown
is not repeated.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Final, Literal, get_args

from idp.service import Service
from storage import COUNTERS, Delete, Key, StorageError, Unavailable

Kind = Literal[
    "sign_in",
    "sign_in_failed",
    "second_factor",
    "passkey",
    "provider",
    "registration",
    "reset",
    # A user counts at their first use of that day, week or month: the sum over the days of a month
    # is the number of users who were active in it.
    "active_day",
    "active_week",
    "active_month",
]
Step = Literal["HOUR", "DAY"]

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
LENGTHS: Final[dict[Step, timedelta]] = {"HOUR": timedelta(hours=1), "DAY": timedelta(days=1)}
STORED_FOR: Final[dict[Step, timedelta]] = {"HOUR": timedelta(days=8), "DAY": timedelta(days=400)}
MAX_KEYS: Final = 10_000  # in memory; what further ones count is lost
MAX_FLUSHED: Final = 2_000  # keys that one flush writes
_BATCH_SIZE: Final = 500  # counters that are written, or removed, concurrently
_EVERYWHERE: Final = "*"
_MAX_ID: Final = 120  # characters of an organization's id in a key
_FORMATS: Final[dict[Step, str]] = {"HOUR": "h%Y-%m-%dT%H", "DAY": "d%Y-%m-%d"}


def count(service: Service, kind: Kind, org_id: str | None, at: datetime | None = None) -> None:
    """Counts one event of this kind at the instant `at`, by default now, for the organization and
    for the installation; without `org_id` for the installation alone.

    Returns before anything is stored (`flush`).
    """
    at, counted = at or service.clock.now(), service.usage
    for scope in {org_id, None}:
        for step in LENGTHS:
            key = _key(scope, kind, step, at)
            if key in counted or len(counted) < MAX_KEYS:
                counted[key] += 1


def _key(org_id: str | None, kind: Kind, step: Step, at: datetime) -> str:
    return f"usage:{_scope(org_id)}:{kind}:{at:{_FORMATS[step]}}"


def _scope(org_id: str | None) -> str:
    if org_id is None:
        return _EVERYWHERE
    # An imported id may be any text of up to 200 characters.
    if org_id == _EVERYWHERE or len(org_id) > _MAX_ID:
        return hashlib.sha256(org_id.encode()).hexdigest()
    return org_id


async def flush(service: Service) -> None:
    """Adds up to `MAX_FLUSHED` of the counts that this process has made to those of the store.

    Raises Unavailable if some could not be added; the next call adds them.
    """
    counted = service.usage
    for _ in range(0, min(MAX_FLUSHED, len(counted)), _BATCH_SIZE):
        taken = [(key, counted.pop(key)) for key in list(islice(counted, _BATCH_SIZE))]
        outcomes = await asyncio.gather(*(_add(service, *each) for each in taken))
        for error in filter(None, outcomes):
            raise error


async def _add(service: Service, key: str, n: int) -> Unavailable | None:
    """Adds to one counter; returns the error if nothing was added. The count is then due again."""
    step: Step = "HOUR" if key.rpartition(":")[2].startswith("h") else "DAY"
    try:
        await service.store.increment(key, n, window=STORED_FOR[step])
    except Unavailable as error:
        service.usage[key] += n
        return error
    except StorageError:  # it may have been added: a lost count is better than a double one
        pass
    return None


def begin(step: Step, at: datetime) -> datetime:
    """Returns the beginning of the hour or day of UTC that contains the instant `at`."""
    hour = at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    return hour if step == "HOUR" else hour.replace(hour=0)


async def read(
    service: Service,
    org_id: str | None,
    kinds: Sequence[Kind],
    step: Step,
    times: Sequence[datetime],
) -> dict[Kind, list[int]]:
    """Returns the stored counts of each kind in the hours or days that contain `times`, in their
    order: of the organization, or without `org_id` of the installation. One read finds all."""
    keys: list[Key] = [(COUNTERS, _key(org_id, kind, step, at)) for kind in kinds for at in times]
    numbers = [record.n if record else 0 for record in await service.store.get_many(keys)]
    width = len(times)
    return {kind: numbers[place * width : (place + 1) * width] for place, kind in enumerate(kinds)}


async def remove(service: Service, org_id: str) -> None:
    """Removes all stored counts of an organization. It may be interrupted anywhere and run again.
    Raises StorageError."""
    keys = iter([*_stored_keys(service.clock.now(), org_id)])
    while batch := list(islice(keys, _BATCH_SIZE)):
        found = await service.store.get_many([(COUNTERS, key) for key in batch])
        units = [[Delete(COUNTERS, record.id)] for record in found if record is not None]
        for outcome in await service.store.commit_each(units) if units else ():
            if outcome is not None:
                raise outcome


def _stored_keys(now: datetime, org_id: str) -> Iterable[str]:
    """Yields the keys of all counters of an organization that may be stored."""
    for step, length in LENGTHS.items():
        for number in range(STORED_FOR[step] // length + 2):
            for kind in KINDS:
                yield _key(org_id, kind, step, now - (number - 1) * length)
