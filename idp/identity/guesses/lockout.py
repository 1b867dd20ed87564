"""Locks a user after too many wrong passwords or second-factor codes in a row, if the
organization's policy requires it (`lockout_counters` counts them).

A lock changes the security stamp, as one by an administrator does; so an unlocked user's count
begins at 0.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta

from idp import changes
from idp.changes import Change
from idp.foundation.errors import FailedPrecondition
from idp.identity.guesses import lockout_counters
from idp.identity.guesses.lock_ends import ACTOR
from idp.identity.guesses.lockout_counters import GuessKind
from idp.identity.users import ending
from idp.mail.templates import security as security_messages
from idp.records import USERS, LockoutRules, User
from idp.service import Service


async def failed(
    service: Service,
    user: User | None,
    rules: LockoutRules,
    kind: GuessKind,
    ordinal: int | None,
) -> None:
    """Locks the user if a wrong password or code has reached the limit of the lockout policy
    `rules`.

    `kind` is which of the two it was, and `ordinal` is its number from `lockout_counters.claim`
    (None: not counted). The last active owner of an organization or of the installation is never
    locked: no other user could unlock them. Does nothing without a user.
    """
    if (
        user is not None
        and ordinal is not None
        and ordinal >= lockout_counters.max_failures(rules, kind)
    ):
        with suppress(FailedPrecondition):
            await changes.run(service, _lock, user, rules)


async def _lock(service: Service, user_at_attempt: User, rules: LockoutRules) -> Change[None]:
    user = await service.store.get(USERS, user_at_attempt.id)
    if user is None or user.state != "active" or user.stamp != user_at_attempt.stamp:
        return Change(None)
    seconds = rules.lockout_seconds
    ends_at = service.clock.now() + timedelta(seconds=seconds) if seconds else None
    values = {
        "state": "locked",
        "stamp": service.random.token(bits=64),
        "locked_until": ends_at,
    }
    update = changes.updated(service, changes.by(ACTOR), USERS, user, values, "user.locked")
    mails = security_messages.locked(service, user, seconds)
    return Change(None, [*update.writes, *await ending.ending_writes(service, user), *mails])
