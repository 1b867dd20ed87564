"""Counts the users who are active in a day, week and month of UTC, without a list of them.

The store has one record of each user with the time of the last sign-in, exact to the hour. Of the
processes in which a user signs in at the same time, the one whose write replaces that time counts
the user, for each period that the replaced time is not in.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta
from itertools import islice
from typing import Final, NamedTuple

from idp.records import LAST_USES, USERS, LastUse, User
from idp.service import Service
from idp.usage import counts
from idp.usage.counts import Kind
from storage import (
    MAX_ID_CHARACTERS,
    Conflict,
    Delete,
    Insert,
    Key,
    Stale,
    StorageError,
    Unavailable,
    Update,
    Write,
)

STORED_EVERY: Final = timedelta(hours=1)
STORED_FOR: Final = timedelta(days=400)
MAX_WAITING: Final = 10_000  # users whose sign-in is not stored yet; further ones are not counted
_MAX_KNOWN: Final = 10_000  # ids that one process remembers
_BATCH_SIZE: Final = 500


class _Use(NamedTuple):
    """A sign-in that is not stored yet."""

    user_id: str
    org_id: str
    at: datetime

    @property
    def key(self) -> tuple[str, date]:
        return self.user_id, self.at.date()


def record(service: Service, user: User) -> None:
    """Records that the user signs in now, by a new session or an open one.

    Returns before that is stored (`flush`), at most once an hour and once more on each new day.
    """
    use, (_, id) = _Use(user.id, user.org_id, service.clock.now()), key(user.id)
    known = service.last_uses
    last = known.get(id)
    if not _is_due(last, use.at) or len(service.active_users) >= MAX_WAITING:
        return
    if len(known) >= _MAX_KNOWN:
        # This bounds the memory; at worst each use is compared with the stored one once more.
        known.clear()
    known[id] = use.at
    service.active_users[use.key] = (use.org_id, use.at)


def deletion(user_id: str) -> Write:
    """Returns the write that deletes the time of a user's last sign-in, for the unit that deletes
    the user."""
    return Delete(*key(user_id))


def key(user_id: str) -> Key:
    """Returns the key of the record with the time of a user's last sign-in (`LastUse`)."""
    id = f"user:{user_id}"
    # An imported id may be as long as any in the store.
    is_long = len(id) > MAX_ID_CHARACTERS
    return LAST_USES, hashlib.sha256(id.encode()).hexdigest() if is_long else id


async def last_sign_ins(service: Service, user_ids: Sequence[str]) -> dict[str, datetime]:
    """Returns the time of the last sign-in of each of these users, exact to the hour; users who
    have not signed in are left out."""
    uses = await service.store.get_many([key(user_id) for user_id in user_ids])
    return {
        user_id: use.at for user_id, use in zip(user_ids, uses, strict=True) if use is not None
    }


def _is_due(last: datetime | None, at: datetime) -> bool:
    return last is None or at - last >= STORED_EVERY or at.date() > last.date()


def _is_news(last: LastUse, at: datetime) -> bool:
    """Returns whether a sign-in at the instant `at` is to be stored. One of the day before, which
    another process has stored that of the new day before, is, too, if it is the first of its
    day."""
    if at.date() < last.at.date():
        return last.previous_at is None or last.previous_at.date() < at.date()
    return _is_due(last.at, at)


async def flush(service: Service) -> None:
    """Stores the sign-ins that this process has recorded, up to 500, and counts their users where
    no other process has done so. Raises StorageError; the next call stores them then."""
    uses = _take(service)
    if not uses:
        return
    try:
        keys = [key(each.user_id) for each in uses]
        stored = await service.store.get_many([*keys, *((USERS, each.user_id) for each in uses)])
    except StorageError:
        _give_back(service, uses)
        raise
    due = [
        (use, last, _write(use, last))
        for use, last, user in zip(uses, stored[: len(uses)], stored[len(uses) :], strict=True)
        # A user who was deleted meanwhile leaves nothing.
        if user is not None and (last is None or _is_news(last, use.at))
    ]
    outcomes = await service.store.commit_each([[write] for *_, write in due]) if due else []
    for (use, last, _), outcome in zip(due, outcomes, strict=True):
        if outcome is None:
            _count(service, use, last)
        elif isinstance(outcome, (Conflict, Stale, Unavailable)):
            _give_back(service, [use])  # is compared with what another process has stored


def _take(service: Service) -> list[_Use]:
    """Takes the oldest sign-ins, one of each user: before midnight there may be another."""
    waiting, taken = service.active_users, dict[str, _Use]()
    for (user_id, _), (org_id, at) in islice(waiting.items(), _BATCH_SIZE):
        taken.setdefault(user_id, _Use(user_id, org_id, at))
    for use in taken.values():
        del waiting[use.key]
    return list(taken.values())


def _give_back(service: Service, uses: list[_Use]) -> None:
    for use in uses:
        service.active_users.setdefault(use.key, (use.org_id, use.at))


def _write(use: _Use, last: LastUse | None) -> Write:
    collection, id = key(use.user_id)
    if last is None:
        return Insert(collection, LastUse(id=id, at=use.at, expires_at=use.at + STORED_FOR))
    at, previous_at = max(use.at, last.at), min(use.at, last.at)
    changes = {"at": at, "previous_at": previous_at, "expires_at": at + STORED_FOR}
    expected = {"at": last.at, "previous_at": last.previous_at}
    return Update(collection, id, set=changes, expect=expected)


def _count(service: Service, use: _Use, last: LastUse | None) -> None:
    stored = [at for at in (last.at, last.previous_at) if at] if last else []
    counted = {period for at in stored for period in _periods(at)}
    for period in _periods(use.at):
        if period not in counted:
            counts.count(service, period[0], use.org_id, use.at)


def _periods(at: datetime) -> Iterator[tuple[Kind, tuple[int, ...]]]:
    """Yields the day, week (of ISO 8601) and month that contain an instant, in the order of
    time."""
    day, week = at.date(), at.isocalendar()
    yield "active_day", (day.year, day.month, day.day)
    yield "active_week", (week.year, week.week)
    yield "active_month", (day.year, day.month)
