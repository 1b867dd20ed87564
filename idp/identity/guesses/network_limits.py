"""How many accounts may be guessed at from one network before its tries are slowed down.

An account counts once an hour and network, and no more once its user has signed in from there. So
a typing error counts for nothing, and somebody who tries one password with many names is slowed.
Browsers that the account knows are not subject to it, and neither are `known_networks`.
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
GATE: Final = timedelta(seconds=2)  # in which one try of a slowed network is looked at
RETRY_SECONDS: Final = range(2, 11)
NOTED: Final = 1000  # accounts that are noted for one network


class Network(Struct, frozen=True):
    """A network that a try is counted under: how many accounts may fail from it before its tries
    are slowed down, and how many are noted."""

    key: str
    most: int
    noted: int

    def keys(self, account: str) -> list[Key]:
        """The counters: accounts that failed from it, its gate, and whether this account did."""
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
    """The networks that a try from there is counted under; none where it is exempt."""
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
    """The networks with the records of their `keys`, in the order of these."""
    triples = zip(records[::3], records[1::3], records[2::3], strict=True)
    return [Counted(one, *triple) for one, triple in zip(networks, triples, strict=True)]


def check(service: Service, found: Sequence[Counted]) -> None:
    """Raise Throttled while a slowed network's gate is closed."""
    if any(one.is_slowed and one.gate is not None for one in found):
        raise slowed(service)


async def claim(service: Service, found: Sequence[Counted]) -> None:
    """Pass the gates of networks that are slowed. Raises Throttled."""
    for one in found:
        if one.is_slowed:
            gate = await service.store.increment(f"slow:{one.network.key}", window=GATE)
            if gate.n > 1:
                raise slowed(service)


def slowed(service: Service) -> Throttled:
    """The refusal of a try from a slowed network; when to come again is drawn by lot."""
    seconds = RETRY_SECONDS[service.random.token_bytes(1)[0] % len(RETRY_SECONDS)]
    return Throttled("too many tries from there", retry_after_seconds=seconds, cause="network")


async def failed(service: Service, found: Sequence[Counted], account: str) -> None:
    """Note that the account failed from these networks."""
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
    """Take the account off what its networks have failed; best effort."""
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
