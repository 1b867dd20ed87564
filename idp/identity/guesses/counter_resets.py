"""Resets all counts of failures with a user's passwords and codes."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from idp.identity.guesses import lockout_counters, throttle
from idp.identity.guesses import streaks as guess_streaks
from idp.identity.users import lookup as user_lookup
from idp.identity.users.subjects import Subject
from idp.records import FAILURE_STREAKS
from idp.service import Service
from storage import Key, StorageError

_CODES: Final = ("factor", "recovery", "new-factor")


async def forget(service: Service, subject: Subject) -> bool:
    """Deletes the counts of failures with a user's password and codes; returns whether there were
    any.

    It is called after a sign-in by passkey, after a new password, and when an administrator
    unlocks the user. An error of the store is ignored: a count that remains delays the user, and
    lets no one sign in.
    """
    user = subject.user
    keys = _keys(service, subject)
    with suppress(StorageError):
        *records, streak = await service.store.get_many([*keys, (FAILURE_STREAKS, user.id)])
        existing = [key for key, record in zip(keys, records, strict=True) if record is not None]
        await throttle.delete(service, existing)
        if streak is not None:
            await guess_streaks.end(service, streak)
        return bool(existing or streak)
    return False


def _keys(service: Service, subject: Subject) -> list[Key]:
    user = subject.user
    names, addresses = user_lookup.login_names(subject.organization, user.user_name, user.email)
    login_names = {throttle.login_name(each) for each in names | addresses}
    codes = [f"{kind}:{user.id}" for kind in _CODES]
    return [
        *(key for each in [*login_names, *codes] for key in throttle.keys(service, each)),
        *(
            key
            for each in [f"user:{user.id}", *codes]
            for key in lockout_counters.keys(service, user, each)
        ),
    ]
