"""Checks codes of a user's second factor.

Each attempt is counted before the code is checked, as for passwords, and codes of an authenticator
app are no longer accepted after too many wrong ones in a row.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from idp.foundation.errors import IdpError
from idp.identity.factors import recovery_codes, second_factors, totp
from idp.identity.guesses import lockout, lockout_counters, throttle
from idp.identity.guesses import reports as guess_reports
from idp.identity.guesses import streaks as guess_streaks
from idp.identity.guesses.origin import AttemptOrigin
from idp.identity.guesses.reports import Cause, Outcome, Secret
from idp.identity.guesses.throttle import Throttled
from idp.mail.templates import factors as factor_messages
from idp.mail.templates import guesses as guess_messages
from idp.records import FAILURE_STREAKS, USERS, FailureStreak, LockoutRules, User
from idp.service import Service
from storage import Update, Value, Write

# The user gets a mail at this count.
REPORTED_AT: Final = 5  # wrong codes in a row after a right password
_AFTER_ANSWER_SECONDS: Final = 0.1


class FactorCodeRefused(IdpError):
    """The code of a second factor is wrong, or was used before."""

    error_code = "code.wrong"


class AcceptedCode(Struct, frozen=True):
    """A code of `user` that was accepted.

    The caller commits `writes`, which record the use of the code (of two units with them, one
    fails with Stale), and then passes the object to `succeeded`, which deletes the counts of wrong
    codes: those of `account`, the `streak`, and the lockout policy's unless `lockout_ordinal` is
    None.
    """

    writes: list[Write]
    user: User
    account: str
    lockout_ordinal: int | None
    streak: FailureStreak | None


class _Attempt(Struct, frozen=True):
    """An attempt that was counted, and the records that were read for it."""

    account: str
    streak: FailureStreak | None
    rules: LockoutRules
    lockout_ordinal: int | None

    @property
    def is_locked(self) -> bool:
        return lockout_counters.exceeds_limit(self.rules, "codes", self.lockout_ordinal)


async def by_totp(service: Service, user: User, typed: str, origin: AttemptOrigin) -> AcceptedCode:
    """Checks a code of the user's authenticator app (RFC 6238), and returns the writes that record
    its use, for the caller to commit.

    Raises FactorCodeRefused if the code is wrong or was used before, or if codes are no longer
    accepted; Throttled.
    """
    attempt = await _admit(service, user, "factor", "totp", origin)
    secret, app = second_factors.secret_of(service, user), user.totp
    streak = await guess_streaks.count(service, user.id, attempt.streak, "codes")
    is_closed = streak.codes > guess_streaks.MAX_CODES
    step = None
    if secret is not None and app is not None and not (is_closed or attempt.is_locked):
        step = totp.step_of(secret, typed, service.clock.now(), after=app.last_step)
    if step is None or app is None:
        if streak.codes == REPORTED_AT:
            service.background_tasks.start(_report_wrong_codes(service, user))
        cause: Cause = "closed" if is_closed else "wrong"
        raise await _refuse(service, user, attempt, cause, "totp", origin)
    expected: dict[str, Value] = {"stamp": user.stamp, "state": "active"}
    # So each code is accepted once, also in concurrent requests (RFC 6238 5.2).
    expected["totp.last_step"] = app.last_step
    used = Update(USERS, user.id, set={"totp.last_step": step}, expect=expected)
    return _accepted(service, user, attempt, [used], streak, "totp", origin)


async def by_recovery_code(
    service: Service, user: User, typed: str, origin: AttemptOrigin
) -> AcceptedCode:
    """Checks a recovery code, and returns the writes that record its use and send the user a mail
    about it, for the caller to commit.

    Raises FactorCodeRefused, Throttled.
    """
    attempt = await _admit(service, user, "recovery", "recovery_code", origin)
    used = None if attempt.is_locked else await recovery_codes.use_writes(service, user, typed)
    if used is None:
        raise await _refuse(service, user, attempt, "wrong", "recovery_code", origin)
    writes = [*used, *factor_messages.notification(service, user, "recovery_code_used")]
    return _accepted(service, user, attempt, writes, attempt.streak, "recovery_code", origin)


async def succeeded(service: Service, accepted: AcceptedCode) -> None:
    """Deletes the counts of wrong codes; called after the unit with the writes of `accepted` is
    committed."""
    user, account = accepted.user, accepted.account
    await throttle.forget(service, account, f"factor:{user.id}")
    await lockout_counters.succeeded(service, user, account, accepted.lockout_ordinal)
    if accepted.streak is not None:
        await guess_streaks.end(service, accepted.streak, ("codes",))


async def of_new_totp(service: Service, user: User, secret: str, typed: str) -> int:
    """Checks the first code of an authenticator app that is being set up with `secret`, and
    returns the code's time step (RFC 6238). Raises FactorCodeRefused, Throttled."""
    account = f"new-factor:{user.id}"
    await throttle.admit(service, account)
    step = totp.step_of(secret, typed, service.clock.now())
    if step is None:
        raise FactorCodeRefused("the code is not one of the new app")
    await throttle.forget(service, account)
    return step


async def _admit(
    service: Service, user: User, kind: str, secret: Secret, origin: AttemptOrigin
) -> _Attempt:
    """Counts an attempt before its code is checked. Raises Throttled."""
    account = f"{kind}:{user.id}"
    keys = [
        *throttle.keys(service, account),
        (FAILURE_STREAKS, user.id),
        *lockout_counters.policy_keys(user),
    ]
    records = await service.store.get_many(keys)
    rules = lockout_counters.rules_of(service, records[3:])
    try:
        await throttle.claim(service, account, throttle.check(service, records[:2]))
    except Throttled as refusal:
        guess_reports.report(service, Outcome(refusal.cause, secret, origin, user.id))
        raise
    ordinal = await lockout_counters.claim(service, user, account, rules, "codes")
    return _Attempt(account, records[2], rules, ordinal)


async def _refuse(
    service: Service,
    user: User,
    attempt: _Attempt,
    cause: Cause,
    secret: Secret,
    origin: AttemptOrigin,
) -> FactorCodeRefused:
    """Locks the user if the policy requires it after this wrong code, and reports the refusal."""
    await lockout.failed(service, user, attempt.rules, "codes", attempt.lockout_ordinal)
    cause = "locked" if attempt.is_locked else cause
    guess_reports.report(service, Outcome(cause, secret, origin, user.id))
    return FactorCodeRefused("the code is wrong, or was used")


def _accepted(
    service: Service,
    user: User,
    attempt: _Attempt,
    writes: list[Write],
    streak: FailureStreak | None,
    secret: Secret,
    origin: AttemptOrigin,
) -> AcceptedCode:
    guess_reports.report(service, Outcome("accepted", secret, origin, user.id))
    return AcceptedCode(writes, user, attempt.account, attempt.lockout_ordinal, streak)


async def _report_wrong_codes(service: Service, user: User) -> None:
    """Mails the user that another party knows the password."""
    # After the answer, so that its duration does not depend on the mail.
    await service.timer.sleep(_AFTER_ANSWER_SECONDS)
    mails = guess_messages.wrong_codes(service, user)
    if mails:
        await service.store.commit(*mails)
