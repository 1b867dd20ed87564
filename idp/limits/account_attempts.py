"""The limits on attempts at the passwords and codes of one account: the policy as pure functions
of what is stored, the limits, and the time.

A user's wrong passwords and codes in a row do not expire (NIST SP 800-63B-4 3.2.2). All browsers
share `sign_in_failures_limit`, which is below a hundred: those that the account does not know have
five ninths of it, those that it knows have four ninths.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final, Literal, TypeAlias

from msgspec import Struct, structs

from idp.config.settings import Config
from idp.limits import backoffs
from idp.limits.backoffs import BackoffLimit, Delayed
from idp.records import BrowserAttempts, FailureStreak, LockoutRules

MAX_CODES: Final = 50  # wrong codes of an authenticator app, or of mails, in a row
MAX_OF_BROWSER: Final = 10  # attempts of one known browser
BROWSER_WINDOW: Final = timedelta(hours=24)
# Between two attempts from unknown browsers at an account that stays open past its limit.
SLOW_INTERVAL: Final = timedelta(minutes=30)
LOGIN_NAMES: Final = 3  # of one user at most (`users.lookup`)
_NO_LOCKOUT: Final = LockoutRules()
_MAX_COMPARED: Final = 99  # wrong passwords of one account in a row

CodeKind: TypeAlias = Literal["factor", "recovery", "new-factor"]


class AccountLimits(Struct, frozen=True):
    """The limits of one account: the rate of attempts, the numbers of wrong passwords from unknown
    and known browsers, and the lockout policy that applies to it."""

    backoff: BackoffLimit
    max_unknown: int
    max_known: int
    lockout: LockoutRules

    @property
    def max_slow(self) -> int:
        """How many wrong passwords from unknown browsers close an account that was left open,
        because its user has no other way to sign in or is the last owner. With those of known
        browsers they are fewer than a hundred."""
        return _MAX_COMPARED - self.max_known


class CountedAttempt(Struct, frozen=True):
    """The decision about an attempt that is counted: `streak` includes it.

    With `is_closed` or `is_locked` (by the lockout policy) the secret is not compared, and the
    answer is that of a wrong one. `lockout_ordinal` is the attempt's number for the lockout
    policy, which admits `max_lockout`; 0 if the policy counts none.
    """

    streak: FailureStreak
    is_closed: bool = False
    lockout_ordinal: int = 0
    max_lockout: int = 0

    @property
    def is_locked(self) -> bool:
        return self.lockout_ordinal > self.max_lockout

    @property
    def locks_if_wrong(self) -> bool:
        """Whether the lockout policy locks the user if the password or code is wrong."""
        return bool(self.lockout_ordinal) and self.lockout_ordinal >= self.max_lockout


def limits_of(config: Config, lockout: LockoutRules = _NO_LOCKOUT) -> AccountLimits:
    """Returns the limits that the settings and the lockout policy state; by default that policy
    counts nothing."""
    return AccountLimits(
        backoff=backoffs.limit_of(config),
        max_unknown=config.sign_in_failures_limit * 5 // 9,
        max_known=config.sign_in_failures_limit * 4 // 9,
        lockout=lockout,
    )


def with_known_browser(
    streak: FailureStreak, stamp: str, browser_id: str, limits: AccountLimits, now: datetime
) -> CountedAttempt | None:
    """Counts an attempt at the password from a browser that the account knows, which is then the
    first in the streak's list; returns None if this browser or all known browsers together have
    used up their attempts. `stamp` is the user's security stamp."""
    attempts = _attempts_of(streak, browser_id, now)
    if attempts.tries > MAX_OF_BROWSER or streak.known >= limits.max_known:
        return None
    others = [each for each in streak.browsers if each.agent_id != browser_id]
    counted = structs.replace(streak, known=streak.known + 1, browsers=[attempts, *others])
    return _with_lockout_password(CountedAttempt(counted), stamp, limits)


def backoff_limit(streak: FailureStreak | None, limits: AccountLimits) -> BackoffLimit:
    """Returns the limit on the rate of attempts from unknown browsers."""
    if streak is not None and _is_slow(streak, limits):
        return structs.replace(limits.backoff, free=0, delay=SLOW_INTERVAL)
    return limits.backoff


def is_counted_first(streak: FailureStreak | None, ordinal: int, limits: AccountLimits) -> bool:
    """Returns whether an attempt from an unknown browser has to be counted in the streak before it
    is compared; else it is counted if it is wrong. `ordinal` is its number since the last success.

    Concurrent attempts that are counted later are at most the free ones of each login name.
    """
    failures = streak.unknown if streak else 0
    free = backoff_limit(streak, limits).free
    is_near_limit = failures + LOGIN_NAMES * free >= limits.max_unknown
    return ordinal > free or is_near_limit or bool(limits.lockout.max_password_attempts)


def with_unknown_browser(
    streak: FailureStreak, stamp: str, limits: AccountLimits
) -> CountedAttempt:
    """Counts an attempt at the password from any other browser. `stamp` is the user's security
    stamp."""
    counted = structs.replace(streak, unknown=streak.unknown + 1)
    if not _is_slow(streak, limits) and counted.unknown > limits.max_unknown:
        return CountedAttempt(counted, is_closed=True)
    return _with_lockout_password(CountedAttempt(counted), stamp, limits)


def with_code(
    streak: FailureStreak, stamp: str, kind: CodeKind, limits: AccountLimits, now: datetime
) -> CountedAttempt | Delayed:
    """Counts an attempt at a code of a second factor.

    A code of an authenticator app (`factor`) counts in the streak, too. Of an app that is being
    set up (`new-factor`), only the rate is limited.
    """
    stored = next((each for each in streak.backoffs if each.name == kind), None)
    backoff = backoffs.claimed(stored, kind, limits.backoff, now)
    if isinstance(backoff, Delayed):
        return backoff
    others = [each for each in streak.backoffs if each.name != kind]
    codes = streak.codes + (kind == "factor")
    counted = structs.replace(streak, codes=codes, backoffs=[backoff, *others])
    attempt = CountedAttempt(counted, is_closed=kind == "factor" and codes > MAX_CODES)
    if kind == "new-factor":
        return attempt
    return _with_lockout(attempt, stamp, "lockout_codes", limits.lockout.max_otp_attempts)


def with_mail_code(streak: FailureStreak) -> CountedAttempt:
    """Counts an attempt at a code for a new password, from a browser that the account does not
    know."""
    counted = structs.replace(streak, mail_codes=streak.mail_codes + 1)
    return CountedAttempt(counted, is_closed=counted.mail_codes > MAX_CODES)


def without_attempt(
    streak: FailureStreak, attempt: CountedAttempt, browser_id: str | None
) -> FailureStreak:
    """Subtracts an attempt at the password that was counted, but not compared: one of the known
    browser `browser_id`, or of an unknown browser if it is None."""
    if attempt.lockout_ordinal and streak.lockout_stamp == attempt.streak.lockout_stamp:
        failures = max(0, streak.lockout_passwords - 1)
        streak = structs.replace(streak, lockout_passwords=failures)
    if browser_id is None:
        return structs.replace(streak, unknown=max(0, streak.unknown - 1))
    browsers = [
        structs.replace(each, tries=max(0, each.tries - (each.agent_id == browser_id)))
        for each in streak.browsers
    ]
    return structs.replace(streak, known=max(0, streak.known - 1), browsers=browsers)


def after_password(streak: FailureStreak) -> FailureStreak:
    """Returns the streak after a right password: the counts of wrong codes remain."""
    return structs.replace(
        streak,
        unknown=0,
        known=0,
        browsers=[],
        stays_open=False,
        told_at=None,
        lockout_passwords=0,
    )


def after_code(streak: FailureStreak, kind: CodeKind) -> FailureStreak:
    """Returns the streak after a right code of a second factor, which also opens codes of an app
    that were closed."""
    others = [each for each in streak.backoffs if each.name not in (kind, "factor")]
    return structs.replace(streak, codes=0, lockout_codes=0, backoffs=others)


def after_new_factor(streak: FailureStreak) -> FailureStreak:
    """Returns the streak after a right code of an app that is being set up."""
    others = [each for each in streak.backoffs if each.name != "new-factor"]
    return structs.replace(streak, backoffs=others)


def without_lockout(streak: FailureStreak) -> FailureStreak:
    """Returns the streak without counts for the lockout policy."""
    return structs.replace(streak, lockout_passwords=0, lockout_codes=0)


def is_empty(streak: FailureStreak) -> bool:
    """Returns whether nothing is counted, so that the record is not needed."""
    numbers = (streak.unknown, streak.known, streak.codes, streak.mail_codes)
    return not (
        any(numbers) or streak.backoffs or streak.lockout_passwords or streak.lockout_codes
    )


def _is_slow(streak: FailureStreak, limits: AccountLimits) -> bool:
    return streak.stays_open and limits.max_unknown <= streak.unknown < limits.max_slow


def _attempts_of(streak: FailureStreak, browser_id: str, now: datetime) -> BrowserAttempts:
    """The browser's attempts plus this one."""
    for each in streak.browsers:
        if each.agent_id == browser_id and each.ends_at > now:
            return structs.replace(each, tries=each.tries + 1)
    return BrowserAttempts(agent_id=browser_id, tries=1, ends_at=now + BROWSER_WINDOW)


def _with_lockout_password(
    attempt: CountedAttempt, stamp: str, limits: AccountLimits
) -> CountedAttempt:
    max_failures = limits.lockout.max_password_attempts
    return _with_lockout(attempt, stamp, "lockout_passwords", max_failures)


def _with_lockout(
    attempt: CountedAttempt,
    stamp: str,
    field: Literal["lockout_passwords", "lockout_codes"],
    max_failures: int,
) -> CountedAttempt:
    """Counts the attempt for the lockout policy, if that limits such attempts (`max_failures`)."""
    if not max_failures:
        return attempt
    streak = attempt.streak
    if streak.lockout_stamp != stamp:
        streak = structs.replace(streak, lockout_stamp=stamp, lockout_passwords=0, lockout_codes=0)
    failures = getattr(streak, field) + 1
    return structs.replace(
        attempt,
        streak=structs.replace(streak, **{field: failures}),
        lockout_ordinal=failures,
        max_lockout=max_failures,
    )
