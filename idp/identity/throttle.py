"""Guessing made slow: after some failures the next try has to wait, longer each time.

Failures are counted for an account from one address (so that a stranger can't keep its owner
out), for the account from everywhere, and for the address. Once there are too many of a kind,
one try is looked at in each delay, and a right password before that is not looked at either. The
counts are in the store, so that all processes share them; a sign-in that never failed writes
none.
"""

from __future__ import annotations

import asyncio
import math
import re
from datetime import timedelta
from typing import Final

from msgspec import Struct

from idp.errors import Busy
from idp.identity.users import login_key
from idp.records import User
from idp.service import Service
from storage import COUNTERS

WINDOW: Final = timedelta(hours=1)
_FROM_EVERYWHERE: Final = 10  # times the failures that one address may make


class Throttled(Busy):
    """Too many failures; `retry_after_seconds` says when the next try is looked at."""

    slug = "sign_in.throttled"


class _Kind(Struct, frozen=True):
    """One of the counts that a try belongs to, and how many failures it forgives."""

    key: str
    forgiven: int
    ends_with_success: bool

    @property
    def failures(self) -> str:
        return f"failures:{self.key}"

    @property
    def gate(self) -> str:
        return f"gate:{self.key}"


def account_of(user: User | None, typed: str) -> str:
    """What failures are counted for: the user, however they are called, else what was typed."""
    return f"user:{user.id}" if user else f"name:{login_key(typed.strip())}"


def _kinds(service: Service, account: str, address: str) -> tuple[_Kind, ...]:
    config = service.config
    name = _hidden(service, account)
    limit = config.sign_in_failures_before_delay
    return (
        _Kind(f"account:{name}:{address}", limit, True),
        _Kind(f"account:{name}", limit * _FROM_EVERYWHERE, True),
        _Kind(f"address:{address}", config.address_failures_before_delay, False),
    )


def _hidden(service: Service, account: str) -> str:
    """The account as it is counted: of fixed length, and nothing to be read."""
    return service.vault.mac("throttle", account).hex()[:32]


async def admit(service: Service, account: str, address: str) -> None:
    """Let a try be looked at. An unknown account is treated like a known one.

    Raises Throttled.
    """
    kinds = _kinds(service, account, address)
    counts = await service.store.get_many([(COUNTERS, kind.failures) for kind in kinds])
    waits = [
        await _wait(service, kind, count.n)
        for kind, count in zip(kinds, counts, strict=True)
        if count is not None and count.n >= kind.forgiven
    ]
    if any(waits):
        raise Throttled("too many failed sign-ins", retry_after_seconds=max(waits))


async def failed(service: Service, account: str, address: str) -> None:
    """Count a failure, and close the gate behind it when there have been too many."""
    kinds = _kinds(service, account, address)
    counts = await asyncio.gather(
        *[service.store.increment(kind.failures, window=WINDOW) for kind in kinds]
    )
    for kind, count in zip(kinds, counts, strict=True):
        if count.n >= kind.forgiven:
            await service.store.reset(kind.gate)  # the wait is longer than the last one
            await _wait(service, kind, count.n)


async def succeeded(service: Service, account: str, address: str) -> None:
    """Forget the account's failures; the address keeps its own."""
    kinds = [kind for kind in _kinds(service, account, address) if kind.ends_with_success]
    counts = await service.store.get_many([(COUNTERS, kind.failures) for kind in kinds])
    for kind, count in zip(kinds, counts, strict=True):
        if count is not None:
            await service.store.reset(kind.failures)
            await service.store.reset(kind.gate)


async def forgive(service: Service, account: str) -> bool:
    """Forget the account's failures from everywhere; whether there were any.

    Looks at every counter: for whoever runs the service, not for requests.
    """
    ours = re.compile(rf"(failures|gate):account:{_hidden(service, account)}(:|\Z)")
    keys = [one.id async for one in service.store.scan(COUNTERS) if ours.match(one.id)]
    for key in keys:
        await service.store.reset(key)
    return bool(keys)


async def _wait(service: Service, kind: _Kind, failures: int) -> int:
    """Seconds until a try is looked at; 0 for the one that passes, and closes the gate again."""
    excess = min(failures - kind.forgiven + 1, 16)
    delay = timedelta(seconds=min(2**excess, service.config.sign_in_delay_max_seconds))
    gate = await service.store.increment(kind.gate, window=delay)
    if gate.n == 1:
        return 0
    left = gate.resets_at - service.clock.now()
    return max(1, math.ceil(left.total_seconds()))
