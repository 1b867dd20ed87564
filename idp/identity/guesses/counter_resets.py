"""Resets all counts of failures with a user's passwords and codes."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from idp.foundation import logs
from idp.identity.guesses import account_names, login_name_backoffs
from idp.identity.users import lookup as user_lookup
from idp.identity.users.subjects import Subject
from idp.limits import backoffs, compare_and_set
from idp.records import FAILURE_STREAKS, LOGIN_NAME_BACKOFFS
from idp.service import Service
from storage import Key, Stale, StorageError, Write

_MAX_COMMITS: Final = 8  # at each conflict another attempt was counted
_log = logs.logger(__name__)


async def forget(service: Service, subject: Subject) -> None:
    """Deletes the counts of failures with a user's password and codes.

    It is called after a sign-in by passkey, and after a new password. Errors are logged and
    ignored: a count that remains delays the user, and lets no one sign in. So it does not wait for
    a majority of the store's servers.
    """
    try:
        for _ in range(_MAX_COMMITS):
            resets = await writes(service, subject)
            with suppress(Stale):
                if resets:
                    await service.store.commit(*resets)
                return
    except StorageError as error:
        _log.warning("counts of attempts were not deleted", error=str(error))


async def writes(service: Service, subject: Subject) -> list[Write]:
    """Returns the writes that delete the counts, for the caller to commit: none if nothing is
    counted. They fail with Stale if one has changed since."""
    user = subject.user
    names, addresses = user_lookup.login_names(subject.organization, user.user_name, user.email)
    login_names = {account_names.login_name(service, name) for name in names | addresses}
    keys: list[Key] = [
        (FAILURE_STREAKS, user.id),
        *((LOGIN_NAME_BACKOFFS, name) for name in sorted(login_names)),
    ]
    streak, *records = await service.store.get_many(keys)
    account = account_names.account(service, user, user.user_name)
    resets = [
        login_name_backoffs.reset_write(service, record, account)
        for record in records
        if record and backoffs.tries_of(record.backoff, account)
    ]
    if streak is not None:
        resets.append(compare_and_set.write(FAILURE_STREAKS, streak, None))
    return resets
