"""Limits on mails that anonymous requests cause: from one network, and to one mailbox."""

from __future__ import annotations

import math
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final

from idp.identity.users.lookup import login_key
from idp.limits import throttled
from idp.limits.origin import AttemptOrigin
from idp.limits.throttled import Throttled
from idp.service import Service
from storage import COUNTERS, StorageError, Update

MAX_PER_MINUTE: Final = 30  # mails from one network, counted in this process
COOL_DOWN: Final = timedelta(seconds=60)
MAX_TO_MAILBOX: Final = 5  # mails in an hour, from one network
MAX_FROM_NETWORK: Final = 60  # mails in an hour, to all mailboxes
MAILBOX_SITE_FACTOR: Final = 2  # times the limit of one network, for an IPv6 /48
ALL_NETWORKS_FACTOR: Final = 4  # times the limit of one network, for all together
WINDOW: Final = timedelta(hours=1)


async def admit(service: Service, mailbox: str, origin: AttemptOrigin) -> None:
    """Counts a mail to `mailbox` that a request from `origin` causes: as `refuse_flood` and
    `admit_from_network` do, and for the mailbox, which gets at most 20 an hour from all networks
    together. Raises Throttled beyond a limit."""
    refuse_flood(service, origin)
    await admit_from_network(service, mailbox, origin)
    await count(
        service, f"mails:to:{mailbox_key(service, mailbox)}", MAX_TO_MAILBOX * ALL_NETWORKS_FACTOR
    )


async def admit_from_network(
    service: Service, mailbox: str, origin: AttemptOrigin, *, is_known: bool = False
) -> None:
    """Counts a mail for the network of `origin`: among all its mails, and among those to one
    mailbox (or to the login name that was typed); for IPv6 also for the /48. Raises Throttled.

    A browser that the account of the mailbox knows (`is_known`) is counted separately, so that
    strangers in the same network can't use up its limit.
    """
    hidden = mailbox_key(service, mailbox)
    if not origin.is_exempt(service.config):
        for key, limit in origin.limits(MAX_FROM_NETWORK):
            await count(service, f"mails:from:{key}", limit)
    if is_known and origin.browser is not None:
        await count(service, f"mails:to:{hidden}:browser:{origin.browser.id}", MAX_TO_MAILBOX)
        return
    await count(service, f"mails:to:{hidden}:{origin.network}", MAX_TO_MAILBOX)
    if origin.site is not None:
        await count(
            service, f"mails:to:{hidden}:{origin.site}", MAX_TO_MAILBOX * MAILBOX_SITE_FACTOR
        )


def mailbox_key(service: Service, address: str) -> str:
    """Returns the name of an address, a number or a login name in counters: a MAC. It is the same
    for all addresses of a mailbox, whatever their tag (`name+tag@host`)."""
    local, at, host = login_key(address).partition("@")
    mailbox = local.partition("+")[0] + at + host if at else local
    return service.master_key.mac("mailbox", mailbox).hex()[:32]


def refuse_flood(service: Service, origin: AttemptOrigin) -> None:
    """Counts a mail for the network of `origin` in the memory of this process, before anything is
    read or written for it. Raises Throttled if the network requests many within a minute."""
    if origin.is_exempt(service.config):
        return
    now, kind = service.clock.now(), "mails of a network"
    for key, limit in origin.limits(MAX_PER_MINUTE):
        seconds = service.request_counts.wait_seconds(now, kind, key, limit)
        if seconds:
            message = "too many emails from a network"
            raise Throttled(message, retry_after_seconds=seconds, cause="network")


async def count(service: Service, key: str, limit: int) -> None:
    """Counts an action under `key`, the name of the counter. Raises Throttled if there are more
    than `limit` in an hour."""
    count = await service.store.increment(key, window=WINDOW)
    if count.n > limit:
        raise throttled.delayed(count.resets_at, service.clock.now())


async def uncount(service: Service, key: str) -> None:
    """Subtracts one action from the counter `key`, unless it has reached 0 or expired. Errors of
    the store are ignored."""
    with suppress(StorageError):
        record = await service.store.get(COUNTERS, key)
        if record is not None and record.n > 0:
            expected = {"expires_at": record.expires_at}
            await service.store.commit(Update(COUNTERS, key, increment={"n": -1}, expect=expected))


def wait_seconds(service: Service, sent_at: datetime) -> int:
    """Returns the seconds until another mail may be sent to the recipient of the mail at
    `sent_at`; 0 if it may be sent now."""
    remaining = sent_at + COOL_DOWN - service.clock.now()
    return max(0, math.ceil(remaining.total_seconds()))


def refuse_too_soon(service: Service, sent_at: datetime) -> None:
    """Raises Throttled if the mail at `sent_at` is too recent for another one to the same
    recipient."""
    wait = wait_seconds(service, sent_at)
    if wait:
        raise Throttled("an email was recently sent", retry_after_seconds=wait)
