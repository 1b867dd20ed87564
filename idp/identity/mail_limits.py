"""How many mails anybody may ask for: from one network, and to one mailbox."""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from typing import Final

from idp.identity.throttle import Throttled
from idp.identity.try_origin import TryOrigin
from idp.identity.users import login_key
from idp.service import Service

A_MINUTE: Final = 30  # from one network, as this process has counted them
COOL_DOWN: Final = timedelta(seconds=60)
MAILS: Final = 5  # to a mailbox, in an hour and from one network
ASKED_FOR: Final = 60  # mails to anybody, from one network
FROM_EVERYWHERE: Final = 4  # times the mails that one network may ask for
WINDOW: Final = timedelta(hours=1)


async def admit(service: Service, mailbox: str, origin: TryOrigin) -> None:
    """Count a mail: those that one network asks for, and those to a mailbox (or what was typed for
    one), in such a way that a stranger can't keep its owner out. Raises Throttled; for a network
    that asks for many within a minute without a look at the store.
    """
    _admit_network(service, origin)
    hidden = service.vault.mac("mailbox", login_key(mailbox)).hex()[:32]
    if not origin.is_exempt(service.config):
        await count(service, f"mails:from:{origin.network}", ASKED_FOR * origin.factor)
    await count(service, f"mails:to:{hidden}:{origin.network}", MAILS)
    await count(service, f"mails:to:{hidden}", MAILS * FROM_EVERYWHERE)


def _admit_network(service: Service, origin: TryOrigin) -> None:
    seconds = service.request_counts.wait_seconds(
        service.clock.now(), "mails of a network", origin.network, A_MINUTE * origin.factor
    )
    if seconds:
        raise Throttled("too many mails from a network", retry_after_seconds=seconds)


async def count(service: Service, key: str, most: int) -> None:
    """Count what may happen so often in an hour. Raises Throttled."""
    count = await service.store.increment(key, window=WINDOW)
    if count.n > most:
        left = count.resets_at - service.clock.now()
        seconds = max(1, math.ceil(left.total_seconds()))
        raise Throttled("too many mails or tries", retry_after_seconds=seconds)


def wait_seconds(service: Service, sent_at: datetime) -> int:
    """How long until another mail may be asked for, after one that was sent then."""
    left = sent_at + COOL_DOWN - service.clock.now()
    return max(0, math.ceil(left.total_seconds()))


def refuse_too_soon(service: Service, sent_at: datetime) -> None:
    """Raise Throttled while another mail can't be asked for."""
    wait = wait_seconds(service, sent_at)
    if wait:
        raise Throttled("a mail was sent a moment ago", retry_after_seconds=wait)
