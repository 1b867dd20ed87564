"""Limits the number of accounts with failed tries from one network, before its tries are slowed
down.

An account is counted once per hour and network, and no longer once its user has signed in from
there. So typing errors have no effect, while trying one password with many names is slowed down.
Browsers that the account knows are not limited, and neither are `known_networks`.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Final

from msgspec import Struct

from idp.audit import failure_events
from idp.foundation.network_keys import site_key
from idp.identity.guesses.origin import SITE_FACTOR, TryOrigin
from idp.identity.guesses.throttle import Throttled
from idp.service import Service
from storage import COUNTERS, Delete, Key, Stale, StorageError, Update
from storage.base import CounterRecord

WINDOW: Final = timedelta(hours=1)
GATE: Final = timedelta(seconds=2)  # one try of a slowed network is compared in this time
RETRY_SECONDS: Final = range(2, 11)
NOTED: Final = 1000  # accounts that are recorded for one network


class Network(Struct, frozen=True):
    """A network whose tries are counted: how many accounts may fail from it before its tries are
    slowed down, and how many are recorded."""

    key: str
    most: int
    noted: int

    def keys(self, account: str) -> list[Key]:
        """Returns the keys of the counters: accounts that failed, the gate, and whether this
        account failed."""
        names = (f"spray:{self.key}", f"slow:{self.key}", f"seen:{self.key}:{account}")
        return [(COUNTERS, name) for name in names]


class Counted(Struct, frozen=True):
    """A network with its counters as they were read."""

    network: Network
    spray: CounterRecord | None
    gate: CounterRecord | None
    seen: CounterRecord | None

    @property
    def is_slowed(self) -> bool:
        return self.spray is not None and self.spray.n >= self.network.most


def networks_of(service: Service, origin: TryOrigin) -> list[Network]:
    """Returns the networks for which a try from there is counted; empty if it is exempt."""
    if origin.is_exempt(service.config):
        return []
    most, noted = (
        service.config.address_accounts_before_delay * origin.factor,
        NOTED * origin.factor,
    )
    site = site_key(origin.address)
    found = [Network(origin.network, most, noted)]
    return [*found, Network(site, SITE_FACTOR * most, SITE_FACTOR * noted)] if site else found


def counted(networks: Sequence[Network], records: Sequence[CounterRecord | None]) -> list[Counted]:
    """Returns the networks with the records of their `keys`, which are in the same order."""
    triples = zip(records[::3], records[1::3], records[2::3], strict=True)
    return [Counted(one, *triple) for one, triple in zip(networks, triples, strict=True)]


def check(service: Service, found: Sequence[Counted]) -> None:
    """Raises Throttled while a slowed network's gate is closed."""
    if any(one.is_slowed and one.gate is not None for one in found):
        raise slowed(service)


async def claim(service: Service, found: Sequence[Counted]) -> None:
    """Passes the gates of networks that are slowed down. Raises Throttled."""
    for one in found:
        if one.is_slowed:
            gate = await service.store.increment(f"slow:{one.network.key}", window=GATE)
            if gate.n > 1:
                raise slowed(service)


def slowed(service: Service) -> Throttled:
    """Returns the refusal of a try from a slowed network, with a random time until the next
    try."""
    seconds = RETRY_SECONDS[service.random.token_bytes(1)[0] % len(RETRY_SECONDS)]
    return Throttled("too many tries from there", retry_after_seconds=seconds, cause="network")


async def failed(service: Service, found: Sequence[Counted], account: str) -> None:
    """Records that a try at the account failed from these networks."""
    for one in found:
        is_full = one.spray is not None and one.spray.n >= one.network.noted
        if one.seen is not None or is_full:
            continue
        key = one.network.key
        if (await service.store.increment(f"seen:{key}:{account}", window=WINDOW)).n == 1:
            spray = await service.store.increment(f"spray:{key}", window=WINDOW)
            if spray.n == one.network.most:
                failure_events.network_slowed(service, key, spray.n, spray.resets_at)


async def succeeded(service: Service, found: Sequence[Counted], account: str) -> None:
    """Removes the account from the counts of its networks; best effort."""
    for one in found:
        if one.seen is not None:
            key = one.network.key
            gone = Delete(COUNTERS, f"seen:{key}:{account}", expect={"n": one.seen.n})
            with suppress(StorageError):
                await service.store.commit(gone)
                await _take_off(service, key, one.spray)


async def _take_off(service: Service, key: str, spray: CounterRecord | None) -> None:
    if spray is not None:
        same = {"expires_at": spray.expires_at}
        with suppress(Stale):
            await service.store.commit(
                Update(COUNTERS, f"spray:{key}", increment={"n": -1}, expect=same)
            )
