"""Resets all counts of failures with a user's passwords and codes."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Final

from idp.audit import held_units
from idp.identity.guesses import lockout_counters, throttle
from idp.identity.guesses import streaks as guess_streaks
from idp.records import GUESS_STREAKS, User
from idp.service import Service
from storage import Key, StorageError

_CODES: Final = ("factor", "recovery", "new-factor")


async def forget(service: Service, user: User) -> bool:
    """Deletes the counts of failures with a user's password and codes; returns whether there were
    any.

    It is called after a sign-in by passkey, after a new password, and when an administrator
    unlocks the user. An error of the store is ignored: a count that remains delays the user, and
    lets no one sign in.
    """
    accounts = [f"user:{user.id}", *(f"{kind}:{user.id}" for kind in _CODES)]
    keys: list[Key] = [key for each in accounts for key in throttle.keys(service, each)]
    keys += [key for each in accounts for key in lockout_counters.keys(service, user, each)]
    with suppress(StorageError):
        *records, streak = await service.store.get_many([*keys, (GUESS_STREAKS, user.id)])
        existing = [key for key, record in zip(keys, records, strict=True) if record is not None]
        await throttle.delete(service, existing)
        if streak is not None:
            await guess_streaks.end(service, streak)
        return bool(existing or streak)
    return False


async def forget_afterwards(service: Service, user: User) -> None:
    """Calls `forget` in units of its own: immediately, or, if the service's store is a
    `held_units.HoldingStore`, after the unit that it holds is stored."""
    await held_units.after_commit(
        service, partial(forget, held_units.storing_directly(service), user)
    )
