"""Resets all counts of failures with a user's passwords and codes."""

from __future__ import annotations

from contextlib import suppress

from idp.identity.guesses import account_names, counting
from idp.identity.users import lookup as user_lookup
from idp.identity.users.subjects import Subject
from idp.records import FAILURE_STREAKS, LOGIN_NAME_BACKOFFS, FailureStreak
from idp.service import Service
from storage import StorageError


async def forget(service: Service, subject: Subject) -> bool:
    """Deletes the counts of failures with a user's password and codes; returns whether there were
    any.

    It is called after a sign-in by passkey, after a new password, and when an administrator
    unlocks the user. An error of the store is ignored: a count that remains delays the user, and
    lets no one sign in.
    """
    user = subject.user
    names, addresses = user_lookup.login_names(subject.organization, user.user_name, user.email)
    login_names = {account_names.login_name(service, name) for name in names | addresses}
    with suppress(StorageError):
        streak, *backoffs = await service.store.get_many(
            [(FAILURE_STREAKS, user.id), *((LOGIN_NAME_BACKOFFS, name) for name in login_names)]
        )
        await counting.forget(service, *backoffs)
        await counting.change_streak(service, streak, lambda each: FailureStreak(id=each.id))
        return streak is not None or any(backoffs)
    return False
