"""How many mails anybody may ask for: from one network, and to one mailbox."""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from typing import Final

from idp.identity.guesses.origin import SITE_FACTOR, TryOrigin
from idp.identity.guesses.throttle import Throttled
from idp.identity.users.lookup import login_key
from idp.service import Service

A_MINUTE: Final = 30  # from one network, as this process has counted them
COOL_DOWN: Final = timedelta(seconds=60)
MAILS: Final = 5  # to a mailbox, in an hour and from one network
ASKED_FOR: Final = 60  # mails to anybody, from one network
FROM_SITE: Final = 2  # times the mails that one network may ask for: from an IPv6 /48
FROM_EVERYWHERE: Final = 4
WINDOW: Final = timedelta(hours=1)


async def admit(service: Service, mailbox: str, origin: TryOrigin) -> None:
    """Count a mail to a mailbox, which gets 20 an hour from everywhere together. Raises
    Throttled, as `admit_from_network` does."""
    await admit_from_network(service, mailbox, origin)
    await count(service, f"mails:to:{_hidden(service, mailbox)}", MAILS * FROM_EVERYWHERE)


async def admit_from_network(service: Service, mailbox: str, origin: TryOrigin) -> None:
    """Count a mail by the network that asks for it: all of them, and those to one mailbox (or to
    the name that was typed for one), also by the /48 of an IPv6 address.

    A browser in which somebody has signed in before is counted for itself, so that strangers in
    the same network take nothing from it. Raises Throttled; for a network that asks for many
    within a minute without a look at the store.
    """
    _admit_network(service, origin)
    hidden, site = _hidden(service, mailbox), origin.site
    if not origin.is_exempt(service.config):
        await count(service, f"mails:from:{origin.network}", ASKED_FOR * origin.factor)
        if site is not None:
            most = ASKED_FOR * origin.factor * SITE_FACTOR
            await count(service, f"mails:from:{site}", most)
    await count(service, f"mails:to:{hidden}:{origin.asker}", MAILS)
    if site is not None and origin.asker == origin.network:
        await count(service, f"mails:to:{hidden}:{site}", MAILS * FROM_SITE)


def _hidden(service: Service, mailbox: str) -> str:
    return service.vault.mac("mailbox", login_key(mailbox)).hex()[:32]


def _admit_network(service: Service, origin: TryOrigin) -> None:
    if origin.is_exempt(service.config):
        return
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
