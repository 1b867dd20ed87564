"""Counts, for the networks of an attempt at a password, the accounts that failed from there: the
policy is `idp.limits.network_failures`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from msgspec import Struct

from idp.audit import failure_events
from idp.foundation.errors import Busy
from idp.identity.guesses import counting
from idp.limits import network_failures
from idp.limits.compare_and_set import ReadRecord
from idp.limits.network_failures import RETRY_SECONDS, Network
from idp.limits.throttled import Throttled
from idp.records import NETWORK_FAILURES, NetworkFailures
from idp.service import Service
from storage import Key, StorageError


class CountedNetwork(Struct, frozen=True):
    """A network, and what was stored of it when it was read."""

    network: Network
    stored: NetworkFailures | None

    @property
    def read(self) -> ReadRecord[NetworkFailures]:
        return ReadRecord(NETWORK_FAILURES, self.network.key, self.stored)


def key(network: Network) -> Key:
    """Returns the key of the network's record."""
    return NETWORK_FAILURES, network.key


def check(service: Service, counted: Sequence[CountedNetwork]) -> None:
    """Raises Throttled if one of the networks is slowed down and its present delay has not ended.

    Counts nothing: `claim` does.
    """
    now = service.clock.now()
    if any(network_failures.is_delayed(each.stored, each.network, now) for each in counted):
        raise slowed(service)


async def claim(service: Service, counted: Sequence[CountedNetwork]) -> list[CountedNetwork]:
    """Takes the one attempt that each slowed network may make now, and starts its next delay;
    returns the networks with what is stored then.

    Raises Throttled if another attempt has taken it.
    """
    return [
        await _claim(service, each)
        if network_failures.is_slowed(each.stored, each.network)
        else each
        for each in counted
    ]


async def _claim(service: Service, counted: CountedNetwork) -> CountedNetwork:
    network = counted.network

    def delayed(stored: NetworkFailures | None) -> NetworkFailures | None:
        now = service.clock.now()
        if network_failures.is_delayed(stored, network, now):
            raise slowed(service)
        is_slowed = network_failures.is_slowed(stored, network)
        return network_failures.with_delay(stored, now) if stored and is_slowed else stored

    return CountedNetwork(network, await counting.change(service, counted.read, delayed))


def slowed(service: Service) -> Throttled:
    """Returns the refusal of an attempt from a slowed network, with a random time until the next
    attempt."""
    seconds = RETRY_SECONDS[service.random.token_bytes(1)[0] % len(RETRY_SECONDS)]
    return Throttled(
        "too many attempts from this network", retry_after_seconds=seconds, cause="network"
    )


async def count(service: Service, counted: CountedNetwork) -> None:
    """Counts an account that has failed from the network, and had not before. A network that is
    slowed down from now on is an event."""
    network = counted.network

    def added(stored: NetworkFailures | None) -> NetworkFailures:
        return network_failures.with_account(stored, network, service.clock.now())

    failures = await counting.change(service, counted.read, added)
    if failures is not None and failures.accounts == network.max_failed:
        failure_events.network_slowed(service, network.key, failures.accounts, failures.expires_at)


async def uncount(service: Service, counted: CountedNetwork) -> None:
    """Counts an account no longer, which had failed from the network, because its user has signed
    in. Errors of the store are ignored."""

    def subtracted(stored: NetworkFailures | None) -> NetworkFailures | None:
        # A window that began since counts other accounts.
        if stored is None or counted.stored is None:
            return stored
        if stored.expires_at != counted.stored.expires_at:
            return stored
        return network_failures.without_account(stored)

    with suppress(StorageError, Busy):
        await counting.change(service, counted.read, subtracted)
