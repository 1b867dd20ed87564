"""Locks a user after too many wrong passwords or second-factor codes in a row, if the
organization's policy requires it (`idp.limits.account_attempts` counts them).

A lock changes the security stamp, as one by an administrator does; so an unlocked user's count
begins at 0.
"""

from __future__ import annotations

from datetime import timedelta

from idp import changes
from idp.changes import Change
from idp.foundation.errors import FailedPrecondition
from idp.identity.guesses import streaks
from idp.identity.guesses.lock_ends import ACTOR
from idp.identity.guesses.reports import AFTER_ANSWER_SECONDS
from idp.identity.users import ending
from idp.limits import account_attempts
from idp.mail.templates import security as security_messages
from idp.policies import effective
from idp.records import FAILURE_STREAKS, POLICIES, USERS, LockoutRules, Policy, User
from idp.service import Service
from storage import Key


def policy_keys(user: User | None) -> list[Key]:
    """Returns the keys of two records: the lockout policies of the user's organization and of the
    installation.

    Without a user both are the installation's, so that as much is read.
    """
    org_id = user.org_id if user else None
    return [(POLICIES, effective.policy_id(owner, "lockout")) for owner in (org_id, None)]


def rules_of(service: Service, own: Policy | None, default: Policy | None) -> LockoutRules:
    """Returns the lockout rules that apply: of the first policy that exists, else the built-in
    ones.

    `own` and `default` are the records of `policy_keys`, None if they are not stored.
    """
    stored = own or default
    rules = stored.rules if stored else effective.built_in(service.config, "lockout")
    return rules if isinstance(rules, LockoutRules) else LockoutRules()


async def lock(service: Service, user: User, rules: LockoutRules) -> None:
    """Locks the user after a wrong password or code that has reached the limit of the lockout
    policy `rules`.

    The last active owner of an organization or of the installation is never locked: no other user
    could unlock them. Their count begins at 0 instead.
    """
    try:
        await changes.run(service, _lock, user, rules)
    except FailedPrecondition:
        streak = await service.store.get(FAILURE_STREAKS, user.id)
        await streaks.change(service, streak, account_attempts.without_lockout)


async def lock_after_answer(service: Service, user: User, rules: LockoutRules) -> None:
    """Locks the user as `lock` does, a moment later, in a background task: so the duration of the
    answer does not reveal that the login name exists.

    Until then, and if the process ends before, the count refuses all further attempts; the next
    one locks the user.
    """
    await service.timer.sleep(AFTER_ANSWER_SECONDS)
    await lock(service, user, rules)


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
