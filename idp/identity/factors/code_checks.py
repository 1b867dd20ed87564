"""Checks codes of a user's second factor.

Each attempt is counted before the code is checked, as for passwords, and codes of an authenticator
app are no longer accepted after too many wrong ones in a row.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from idp.foundation.errors import IdpError
from idp.identity.factors import recovery_codes, second_factors, totp
from idp.identity.guesses import lockout, streaks
from idp.identity.guesses import reports as guess_reports
from idp.identity.guesses.reports import Cause, Outcome, Secret
from idp.limits import account_attempts
from idp.limits.account_attempts import CodeKind, CountedAttempt
from idp.limits.origin import AttemptOrigin
from idp.limits.throttled import Throttled
from idp.mail.templates import factors as factor_messages
from idp.mail.templates import guesses as guess_messages
from idp.records import FAILURE_STREAKS, USERS, FailureStreak, LockoutRules, User
from idp.service import Service
from storage import Update, Value, Write

# The user gets a mail at this count.
REPORTED_AT: Final = 5  # wrong codes in a row after a right password


class FactorCodeRefused(IdpError):
    """The code of a second factor is wrong, or was used before."""

    error_code = "code.wrong"


class AcceptedCode(Struct, frozen=True):
    """A code of `user` that was accepted.

    The caller commits `writes`, which record the use of the code (of two units with them, one
    fails with Stale), and then passes the object to `succeeded`, which resets the counts of wrong
    codes in the `streak`.
    """

    writes: list[Write]
    kind: CodeKind
    streak: FailureStreak


class _Attempt(Struct, frozen=True):
    """An attempt at a code of this kind, and the lockout rules and the decision that count it."""

    kind: CodeKind
    secret: Secret
    rules: LockoutRules
    counted: CountedAttempt


async def by_totp(service: Service, user: User, typed: str, origin: AttemptOrigin) -> AcceptedCode:
    """Checks a code of the user's authenticator app (RFC 6238), and returns the writes that record
    its use, for the caller to commit.

    Raises FactorCodeRefused if the code is wrong or was used before, or if codes are no longer
    accepted; Throttled.
    """
    attempt = await _admit(service, user, "factor", "totp", origin)
    secret, app = second_factors.secret_of(service, user), user.totp
    counted, step = attempt.counted, None
    if secret is not None and app is not None and not (counted.is_closed or counted.is_locked):
        step = totp.step_of(secret, typed, service.clock.now(), after=app.last_step)
    if step is None or app is None:
        if counted.streak.codes == REPORTED_AT:
            # Another party knows the password.
            mails = guess_messages.wrong_codes(service, user)
            service.background_tasks.start(guess_reports.mail_after_answer(service, mails))
        raise await _refuse(service, user, attempt, origin)
    expected: dict[str, Value] = {"stamp": user.stamp, "state": "active"}
    # So each code is accepted once, also in concurrent requests (RFC 6238 5.2).
    expected["totp.last_step"] = app.last_step
    used = Update(USERS, user.id, set={"totp.last_step": step}, expect=expected)
    return _accepted(service, user, attempt, [used], origin)


async def by_recovery_code(
    service: Service, user: User, typed: str, origin: AttemptOrigin
) -> AcceptedCode:
    """Checks a recovery code, and returns the writes that record its use and send the user a mail
    about it, for the caller to commit.

    Raises FactorCodeRefused, Throttled.
    """
    attempt = await _admit(service, user, "recovery", "recovery_code", origin)
    is_locked = attempt.counted.is_locked
    used = None if is_locked else await recovery_codes.use_writes(service, user, typed)
    if used is None:
        raise await _refuse(service, user, attempt, origin)
    writes = [*used, *factor_messages.notification(service, user, "recovery_code_used")]
    return _accepted(service, user, attempt, writes, origin)


async def succeeded(service: Service, accepted: AcceptedCode) -> None:
    """Deletes the counts of wrong codes; called after the unit with the writes of `accepted` is
    committed."""
    await streaks.change(
        service, accepted.streak, lambda streak: account_attempts.after_code(streak, accepted.kind)
    )


async def of_new_totp(service: Service, user: User, secret: str, typed: str) -> int:
    """Checks the first code of an authenticator app that is being set up with `secret`, and
    returns the code's time step (RFC 6238). Raises FactorCodeRefused, Throttled."""
    stored = await service.store.get(FAILURE_STREAKS, user.id)
    attempt = await _count(service, user, "new-factor", stored, LockoutRules())
    step = totp.step_of(secret, typed, service.clock.now())
    if step is None:
        raise FactorCodeRefused("the code is not one of the new app")
    await streaks.change(service, attempt.streak, account_attempts.after_new_factor)
    return step


async def _admit(
    service: Service, user: User, kind: CodeKind, secret: Secret, origin: AttemptOrigin
) -> _Attempt:
    """Counts an attempt before its code is checked. Raises Throttled."""
    keys = [(FAILURE_STREAKS, user.id), *lockout.policy_keys(user)]
    stored, own, default = await service.store.get_many(keys)
    rules = lockout.rules_of(service, own, default)
    try:
        counted = await _count(service, user, kind, stored, rules)
    except Throttled as refusal:
        _report(service, user, refusal.cause, secret, origin)
        raise
    return _Attempt(kind, secret, rules, counted)


async def _count(
    service: Service, user: User, kind: CodeKind, stored: FailureStreak | None, rules: LockoutRules
) -> CountedAttempt:
    limits = account_attempts.limits_of(service.config, rules)
    return await streaks.count(
        service,
        user.id,
        stored,
        lambda streak: account_attempts.with_code(
            streak, user.stamp, kind, limits, service.clock.now()
        ),
    )


async def _refuse(
    service: Service, user: User, attempt: _Attempt, origin: AttemptOrigin
) -> FactorCodeRefused:
    """Locks the user if the policy requires it after this wrong code, and reports the refusal."""
    counted = attempt.counted
    if counted.locks_if_wrong:
        await lockout.lock(service, user, attempt.rules)
    cause: Cause = "wrong"
    if counted.is_locked or counted.is_closed:
        cause = "locked" if counted.is_locked else "closed"
    _report(service, user, cause, attempt.secret, origin)
    return FactorCodeRefused("the code is wrong, or was used")


def _accepted(
    service: Service, user: User, attempt: _Attempt, writes: list[Write], origin: AttemptOrigin
) -> AcceptedCode:
    _report(service, user, "accepted", attempt.secret, origin)
    return AcceptedCode(writes, attempt.kind, attempt.counted.streak)


def _report(
    service: Service, user: User, cause: Cause, secret: Secret, origin: AttemptOrigin
) -> None:
    outcome = Outcome(cause, secret, origin, user.id, org_id=user.org_id)
    guess_reports.report(service, outcome)
