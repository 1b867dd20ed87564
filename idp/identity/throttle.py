"""Guessing made slow: every try counts before its password is looked at.

From the nth failure on, the next try has to wait, longer each time; a right password during the
wait is not looked at either. Tries are counted for an account from one address (so that a
stranger can't keep its owner out), for the account from everywhere, and for the address. The
counts are in the store, so that parallel tries and other processes share them.
"""

from __future__ import annotations

import asyncio
import math
from datetime import timedelta
from typing import Final

from idp.errors import Busy
from idp.identity.users import login_key
from idp.service import Service

WINDOW: Final = timedelta(hours=1)
_FROM_EVERYWHERE: Final = 10  # times the failures that one address may make


class Throttled(Busy):
    """Too many tries; `retry_after_seconds` says when the next one is looked at."""

    slug = "sign_in.throttled"


async def admit(service: Service, login_name: str, address: str) -> None:
    """Count a try. An unknown account counts like a known one. Raises Throttled."""
    config = service.config
    account = _account(service, login_name)
    limit = config.sign_in_failures_before_delay
    waits = await asyncio.gather(
        _wait(service, f"{account}:{address}", limit),
        _wait(service, account, limit * _FROM_EVERYWHERE),
        _wait(service, f"address:{address}", config.address_failures_before_delay),
    )
    if any(waits):
        raise Throttled("too many failed sign-ins", retry_after_seconds=max(waits))


async def succeeded(service: Service, login_name: str, address: str) -> None:
    """Forget the account's failures, and take this try off the address's count."""
    store, account = service.store, _account(service, login_name)
    keys = [f"{kind}:{key}" for kind in ("tries", "gate") for key in _keys(account, address)]
    await asyncio.gather(
        *[store.reset(key) for key in keys],
        store.increment(f"tries:address:{address}", -1, window=WINDOW),
    )


def _keys(account: str, address: str) -> tuple[str, str]:
    return (f"{account}:{address}", account)


async def _wait(service: Service, key: str, failures_before_delay: int) -> int:
    """Seconds until a try for `key` is looked at; 0 for this one."""
    tries = await service.store.increment(f"tries:{key}", window=WINDOW)
    excess = tries.n - failures_before_delay + 1
    if excess <= 0:
        return 0
    delay = timedelta(seconds=min(2 ** min(excess, 16), service.config.sign_in_delay_max_seconds))
    gate = await service.store.increment(f"gate:{key}", window=delay)
    if gate.n == 1:
        return 0  # this one is looked at, and closes the gate behind it
    left = (gate.resets_at - service.clock.now()).total_seconds()
    return max(1, math.ceil(left))


def _account(service: Service, login_name: str) -> str:
    """A key of fixed length that tells nothing about the name."""
    return "account:" + service.vault.mac("throttle", login_key(login_name.strip())).hex()[:32]
