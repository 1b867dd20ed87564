"""Limits the rate of attempts at one secret: some without delay, then one in each delay, which
grows.

Pure functions of what is stored. An attempt is counted before it is compared, so that concurrent
attempts are limited as sequential ones are.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct, structs

from idp.config.settings import Config
from idp.records import Backoff, FailedFrom

WINDOW: Final = timedelta(hours=24)
NETWORK_WINDOW: Final = timedelta(hours=1)
MAX_NETWORKS: Final = 16  # that are recorded for one secret
_MAX_EXPONENT: Final = 16


class BackoffLimit(Struct, frozen=True):
    """How many attempts are admitted without delay (`free`), and the delays between further ones:
    `delay`, or if that is None 2, 4, 8 seconds and so on up to `max_delay_seconds`."""

    free: int
    max_delay_seconds: int
    delay: timedelta | None = None

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
    """Returns the backoff with another attempt counted, or that the attempt has to wait."""
    backoff = stored or Backoff(name=name, tries=0, ends_at=now + WINDOW)
    if backoff.ends_at <= now:
        backoff = structs.replace(backoff, tries=0, ends_at=now + WINDOW)
    is_free = backoff.tries < limit.free
    if not is_free and backoff.delayed_until is not None and backoff.delayed_until > now:
        return Delayed(backoff.delayed_until)
    ordinal = backoff.tries + 1
    delayed_until = None if is_free else now + limit.delay_of(ordinal)
    return structs.replace(backoff, tries=ordinal, delayed_until=delayed_until)


def taken_back(backoff: Backoff) -> Backoff:
    """Returns the backoff with one attempt less, which was right or was not compared."""
    return structs.replace(backoff, tries=max(0, backoff.tries - 1))


def new_networks(stored: Backoff | None, networks: Sequence[str], now: datetime) -> list[str]:
    """Returns those of the networks that do not count the account at this time, because no attempt
    came from them."""
    counting = {each.network for each in stored.networks if each.ends_at > now} if stored else ()
    return [network for network in networks if network not in counting]


def with_networks(backoff: Backoff, networks: Sequence[str], now: datetime) -> Backoff:
    """Returns the backoff with these networks, which count the account from now on; of too many,
    the oldest are dropped."""
    ends_at = now + NETWORK_WINDOW
    added = [FailedFrom(network=network, ends_at=ends_at) for network in networks]
    others = [
        each for each in backoff.networks if each.ends_at > now and each.network not in networks
    ]
    return structs.replace(backoff, networks=[*added, *others][:MAX_NETWORKS])


def without_networks(backoff: Backoff, networks: Sequence[str]) -> Backoff:
    """Returns the backoff without these networks."""
    others = [each for each in backoff.networks if each.network not in networks]
    return structs.replace(backoff, networks=others)
