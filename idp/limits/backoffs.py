"""Limits the rate of attempts at one secret: some without delay, then one in each delay, which
grows.

Pure functions of what is stored. An attempt is counted before it is compared, so that concurrent
attempts are limited as sequential ones are.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct, structs

from idp.config.settings import Config
from idp.records import AccountTries, Backoff

WINDOW: Final = timedelta(hours=24)
MAX_ACCOUNTS: Final = 16  # that are counted for one login name
_MAX_EXPONENT: Final = 16


class BackoffLimit(Struct, frozen=True):
    """How many attempts start no delay (`free`), and the delay that each later one starts, for
    which the next attempt has to wait: `delay`, or if that is None 2, 4, 8 seconds and so on up to
    `max_delay_seconds`."""

    free: int
    max_delay_seconds: int
    delay: timedelta | None = None

    @property
    def max_delay(self) -> timedelta:
        """The longest delay."""
        return self.delay or timedelta(seconds=self.max_delay_seconds)

    def delay_of(self, ordinal: int) -> timedelta:
        """Returns the delay that begins with the attempt of this number, which is past `free`."""
        if self.delay is not None:
            return self.delay
        exponent = min(ordinal - self.free, _MAX_EXPONENT)
        return timedelta(seconds=min(2**exponent, self.max_delay_seconds))


class Delayed(Struct, frozen=True):
    """The decision that an attempt has to wait until this instant; nothing is counted."""

    until: datetime


def limit_of(config: Config, factor: int = 1) -> BackoffLimit:
    """Returns the limit that the settings state, with `factor` times as many free attempts."""
    free = config.sign_in_failures_before_delay * factor
    return BackoffLimit(free, config.sign_in_delay_max_seconds)


def claimed(
    stored: Backoff | None, name: str, limit: BackoffLimit, now: datetime
) -> Backoff | Delayed:
    """Returns the backoff with another attempt counted, or that the attempt has to wait.

    A clock that was set back prolongs neither the delay nor the window.
    """
    backoff = stored or Backoff(name=name, tries=0, ends_at=now + WINDOW)
    if not now < backoff.ends_at <= now + WINDOW:
        backoff = structs.replace(backoff, tries=0, ends_at=now + WINDOW, accounts=[])
    is_free = backoff.tries < limit.free
    until = backoff.delayed_until
    if not is_free and until is not None and now < until <= now + limit.max_delay:
        return Delayed(until)
    ordinal = backoff.tries + 1
    delayed_until = None if is_free else now + limit.delay_of(ordinal)
    return structs.replace(backoff, tries=ordinal, delayed_until=delayed_until)


def with_account(backoff: Backoff, account: str) -> Backoff:
    """Returns the backoff with its last attempt counted for this account, too."""
    tries = tries_of(backoff, account) + 1
    others = [each for each in backoff.accounts if each.account != account][: MAX_ACCOUNTS - 1]
    return structs.replace(backoff, accounts=[AccountTries(account=account, tries=tries), *others])


def without_account(backoff: Backoff, account: str) -> Backoff | None:
    """Returns the backoff without the attempts at this account, which has succeeded: the same one
    if there were none, None if there were no others."""
    if not tries_of(backoff, account):
        return backoff
    others = [each for each in backoff.accounts if each.account != account]
    tries = backoff.tries - tries_of(backoff, account)
    return structs.replace(backoff, tries=tries, accounts=others) if tries > 0 else None


def tries_of(backoff: Backoff, account: str) -> int:
    """Returns how many of the attempts were at this account."""
    return sum(each.tries for each in backoff.accounts if each.account == account)


def taken_back(backoff: Backoff, account: str = "") -> Backoff:
    """Returns the backoff with one attempt less, which was right or was not compared; `account` is
    the one that it was at, if attempts are counted by account."""
    accounts = [
        structs.replace(each, tries=max(0, each.tries - (each.account == account)))
        for each in backoff.accounts
    ]
    return structs.replace(backoff, tries=max(0, backoff.tries - 1), accounts=accounts)
