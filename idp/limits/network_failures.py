"""Limits the number of accounts with failed attempts from one network, before its attempts are
slowed down: the policy as pure functions of what is stored, the limits, and the time.

An account is counted once per hour and network for each login name that was typed, and no longer
once its user has signed in from there by that name. So typing errors have no effect, while trying
one password with many names is slowed down. Browsers that the account knows are not limited, and
neither are `known_networks`.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct, structs

from idp.config.settings import Config
from idp.foundation.network_keys import SITE_FACTOR
from idp.limits.backoffs import NETWORK_WINDOW
from idp.limits.origin import AttemptOrigin
from idp.records import NetworkFailures

# Of a slowed network, one attempt is compared in this time.
ATTEMPT_INTERVAL: Final = timedelta(seconds=2)
RETRY_SECONDS: Final = range(2, 11)


class Network(Struct, frozen=True):
    """A network whose attempts are counted: `key` names it (`network_keys`), and `factor`
    multiplies its limits. If `max_failed` accounts have failed from it within an hour, its
    attempts are slowed down."""

    key: str
    factor: int
    max_failed: int


def networks_of(config: Config, origin: AttemptOrigin) -> list[Network]:
    """Returns the networks for which an attempt from `origin` is counted: that of its address, and
    for IPv6 also the /48; empty if the operator has exempted the network."""
    if origin.is_exempt(config):
        return []
    factors = {origin.network: origin.factor}
    if origin.site is not None:
        factors[origin.site] = SITE_FACTOR * origin.factor
    max_failed = config.address_accounts_before_delay
    return [Network(key, factor, factor * max_failed) for key, factor in factors.items()]


def is_slowed(failures: NetworkFailures | None, network: Network) -> bool:
    """Returns whether so many accounts have failed that attempts are slowed down."""
    return failures is not None and failures.accounts >= network.max_failed


def is_delayed(failures: NetworkFailures | None, network: Network, now: datetime) -> bool:
    """Returns whether an attempt from the network has to wait now."""
    return (
        failures is not None
        and is_slowed(failures, network)
        and failures.delayed_until is not None
        and failures.delayed_until > now
    )


def with_delay(failures: NetworkFailures, now: datetime) -> NetworkFailures:
    """Takes the one attempt that a slowed network may make now, and starts its next delay."""
    return structs.replace(failures, delayed_until=now + ATTEMPT_INTERVAL)


def with_account(
    failures: NetworkFailures | None, network: Network, now: datetime
) -> NetworkFailures:
    """Counts another account that has failed from the network."""
    if failures is None:
        return NetworkFailures(id=network.key, accounts=1, expires_at=now + NETWORK_WINDOW)
    return structs.replace(failures, accounts=failures.accounts + 1)


def without_account(failures: NetworkFailures) -> NetworkFailures:
    """Counts an account no longer, because its user has signed in."""
    return structs.replace(failures, accounts=max(0, failures.accounts - 1))
