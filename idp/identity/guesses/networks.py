"""Limits the number of accounts with failed attempts from one network, before its attempts are
slowed down.

An account is counted once per hour and network for each login name that was typed, and no longer
once its user has signed in from there by that name. So typing errors have no effect, while trying
one password with many names is slowed down. Browsers that the account knows are not limited, and
neither are `known_networks`. The counts are counters, not records that are compared and set: the
attempts of a whole network change them at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Final

from msgspec import Struct

from idp.audit import failure_events
from idp.limits.origin import AttemptOrigin
from idp.limits.throttled import Throttled
from idp.service import Service
from storage import COUNTERS, Delete, Key, Stale, StorageError, Update
from storage.base import CounterRecord

WINDOW: Final = timedelta(hours=1)
# A slowed network may make one attempt in this time.
ATTEMPT_INTERVAL: Final = timedelta(seconds=2)
RETRY_SECONDS: Final = range(2, 11)
MAX_RECORDED: Final = 1000  # accounts that are recorded for one network


class Network(Struct, frozen=True):
    """A network whose attempts are counted.

    `key` names it in counters, and `factor` multiplies its limits. If `max_failed` accounts have
    failed from it within an hour, its attempts are slowed down; up to `max_recorded` accounts are
    recorded.
    """

    key: str
    factor: int
    max_failed: int
    max_recorded: int

    def keys(self, account: str) -> list[Key]:
        """Returns the keys of three counters: how many accounts failed, the running delay, and
        whether `account` (its name in counters, `account_names`) is one of those."""
        names = (f"spray:{self.key}", f"slow:{self.key}", f"seen:{self.key}:{account}")
        return [(COUNTERS, name) for name in names]


class CountedNetwork(Struct, frozen=True):
    """A network with its three counters as they were read, in the order of `Network.keys`; None
    where a counter does not exist."""

    network: Network
    spray: CounterRecord | None
    delay: CounterRecord | None
    seen: CounterRecord | None

    @property
    def is_slowed(self) -> bool:
        return self.spray is not None and self.spray.n >= self.network.max_failed


def networks_of(service: Service, origin: AttemptOrigin) -> list[Network]:
    """Returns the networks for which an attempt from `origin` is counted: that of its address, and
    for IPv6 also the /48; empty if the operator has exempted the network."""
    if origin.is_exempt(service.config):
        return []
    max_failed = service.config.address_accounts_before_delay
    return [
        Network(key, factor, factor * max_failed, factor * MAX_RECORDED)
        for key, factor in origin.limits(1)
    ]


def counted(
    networks: Sequence[Network], records: Sequence[CounterRecord | None]
) -> list[CountedNetwork]:
    """Returns the networks with their counters; `records` were read by their `keys`, in this
    order."""
    triples = zip(records[::3], records[1::3], records[2::3], strict=True)
    return [
        CountedNetwork(network, *triple) for network, triple in zip(networks, triples, strict=True)
    ]


def check(service: Service, networks: Sequence[CountedNetwork]) -> None:
    """Raises Throttled if one of the networks is slowed down and its present delay has not ended.

    Counts nothing: `claim` does.
    """
    if any(counted.is_slowed and counted.delay is not None for counted in networks):
        raise slowed(service)


async def claim(service: Service, networks: Sequence[CountedNetwork]) -> None:
    """Takes the one attempt that each slowed network may make now, and starts its next delay: the
    largest network first, so that a refusal by it starts no other delay.

    Raises Throttled if another attempt has taken it.
    """
    for counted in reversed(networks):
        if counted.is_slowed:
            key = f"slow:{counted.network.key}"
            delay = await service.store.increment(key, window=ATTEMPT_INTERVAL)
            if delay.n > 1:
                raise slowed(service)


def slowed(service: Service) -> Throttled:
    """Returns the refusal of an attempt from a slowed network, with a random time until the next
    attempt."""
    seconds = RETRY_SECONDS[service.random.token_bytes(1)[0] % len(RETRY_SECONDS)]
    return Throttled(
        "too many attempts from this network", retry_after_seconds=seconds, cause="network"
    )


async def failed(service: Service, networks: Sequence[CountedNetwork], account: str) -> None:
    """Records for each of these networks that an attempt at the account failed; an account is
    counted once.

    `account` is its name in counters (`account_names`).
    """
    for counted in networks:
        is_full = counted.spray is not None and counted.spray.n >= counted.network.max_recorded
        if counted.seen is not None or is_full:
            continue
        key = counted.network.key
        if (await service.store.increment(f"seen:{key}:{account}", window=WINDOW)).n == 1:
            spray = await service.store.increment(f"spray:{key}", window=WINDOW)
            if spray.n == counted.network.max_failed:
                failure_events.network_slowed(service, key, spray.n, spray.resets_at)


async def succeeded(service: Service, networks: Sequence[CountedNetwork], account: str) -> None:
    """Removes the account from the counts of accounts that failed from these networks.

    `account` is its name in counters (`account_names`). Errors of the store are ignored.
    """
    for counted in networks:
        if counted.seen is not None:
            key = counted.network.key
            deletion = Delete(COUNTERS, f"seen:{key}:{account}", expect={"n": counted.seen.n})
            with suppress(StorageError):
                await service.store.commit(deletion)
                await _uncount(service, key, counted.spray)


async def _uncount(service: Service, key: str, spray: CounterRecord | None) -> None:
    if spray is not None:
        expected = {"expires_at": spray.expires_at}
        with suppress(Stale):
            await service.store.commit(
                Update(COUNTERS, f"spray:{key}", increment={"n": -1}, expect=expected)
            )
