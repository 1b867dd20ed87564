"""Limits on the messages that calls by roles of an organization send: to one mailbox, and of one
organization.

A manager of users may have a message sent to any address, with each call. So each unit of such a
call that sends messages counts them before it is stored; beyond a limit nothing of it is. Calls by
roles of the installation have no limit.
"""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final, cast

from idp.foundation.errors import TooMany
from idp.identity.guesses import throttle
from idp.identity.users.lookup import login_key
from idp.mail import messages
from idp.mail.messages import MailMessage
from idp.management.call import Call
from idp.records import OutboxMessage
from idp.service import Service
from storage import Conflict, Insert, Stale, Store, Unavailable, Write

MAX_TO_MAILBOX: Final = 20  # in an hour: codes and invitations; and as many notices besides
HOUR: Final = timedelta(hours=1)
DAY: Final = timedelta(days=1)
_WITH_CODE: Final = frozenset({"verify_email", "verify_phone", "reset_password", "invite"})


class TooManyToMailbox(TooMany):
    """The mailbox or the phone got as many messages within an hour as it may get."""

    error_code = "mail.mailbox_limit"


class TooManyOfOrganization(TooMany):
    """The organization has sent as many messages within a day as it may send."""

    error_code = "mail.organization_limit"


def limited(service: Service, call: Call) -> Service:
    """Returns the service for the work of a call: one whose store counts the messages that are put
    into the outbox, and refuses units with too many of them. The commits of its store raise
    TooManyToMailbox, TooManyOfOrganization."""
    if call.is_by_instance:
        return service
    return replace(service, store=cast(Store, _CountingStore(service)))


@asynccontextmanager
async def counted(service: Service, call: Call, writes: Sequence[Write]) -> AsyncIterator[None]:
    """A block in which a unit of a call is committed: its messages are counted, and counted back
    if the unit is not stored. Raises TooManyToMailbox, TooManyOfOrganization."""
    if call.is_by_instance:
        yield
        return
    store, keys = _CountingStore(service), list[str]()
    try:
        await store._admit(_mails(service, writes), keys)
        yield
    except (Conflict, Stale, Unavailable, TooMany):
        for key in keys:
            await throttle.uncount(service, key)
        raise


class _CountingStore:
    """The store of one call. What was counted for a unit that is not stored is counted back."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._store = service.store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def commit(self, *writes: Write) -> None:
        keys = list[str]()
        try:
            await self._admit(_mails(self._service, writes), keys)
            await self._store.commit(*writes)
        except (Conflict, Stale, Unavailable, TooMany):
            for key in keys:
                await throttle.uncount(self._service, key)
            raise

    async def commit_each(self, units: Sequence[Sequence[Write]]) -> Any:
        await self._admit(_mails(self._service, [write for unit in units for write in unit]), [])
        return await self._store.commit_each(units)

    async def _admit(self, mails: Sequence[tuple[str, MailMessage]], keys: list[str]) -> None:
        """Counts these messages, and adds the keys of their counters to `keys`."""
        for kind, mail in mails:
            mailbox = _mailbox_key(self._service, kind, mail)
            keys.append(mailbox)
            await self._count(mailbox, MAX_TO_MAILBOX, HOUR, TooManyToMailbox)
            if kind in _WITH_CODE:
                sum_key = f"mails:of:{mail.org_id}"
                most = self._service.config.organization_mails_per_day
                keys.append(sum_key)
                await self._count(sum_key, most, DAY, TooManyOfOrganization)

    async def _count(self, key: str, most: int, window: timedelta, error: type[TooMany]) -> None:
        count = await self._store.increment(key, window=window)
        if count.n > most:
            remaining = count.resets_at - self._service.clock.now()
            seconds = max(1, math.ceil(remaining.total_seconds()))
            raise error(_text(error, most), retry_after_seconds=seconds)


def _text(error: type[TooMany], most: int) -> str:
    if error is TooManyToMailbox:
        return f"{most} messages were sent to this recipient within an hour: try again later"
    return f"the organization has sent {most} messages within a day: try again later"


def _mails(service: Service, writes: Sequence[Write]) -> list[tuple[str, MailMessage]]:
    """Returns the messages that these writes put into the outbox, with their kinds."""
    return [
        (write.record.kind, messages.opened(service, write.record))
        for write in writes
        if isinstance(write, Insert) and isinstance(write.record, OutboxMessage)
    ]


def _mailbox_key(service: Service, kind: str, mail: MailMessage) -> str:
    """Returns the name of the counter of a recipient. Notices of changes have one in each
    organization, and don't count for its sum, so that no other messages keep a change from being
    made."""
    hidden = service.master_key.mac("mailbox", _mailbox(mail.to)).hex()[:32]
    return f"mails:code:{hidden}" if kind in _WITH_CODE else f"mails:note:{hidden}:{mail.org_id}"


def _mailbox(address: str) -> str:
    """Returns the mailbox of an address, which is the same with any tag (`name+tag@host`)."""
    local, at, host = login_key(address).partition("@")
    return local.partition("+")[0] + at + host if at else local
