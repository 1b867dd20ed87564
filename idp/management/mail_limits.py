"""Limits on the messages that calls by roles of an organization send: to one mailbox, and of one
organization.

A manager of users may have a message sent to any address, with each call. So each unit of such a
call that sends messages counts them before it is stored; beyond a limit nothing of it is. Calls by
roles of the installation have no limit.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Final

from idp.foundation.errors import TooMany
from idp.identity.guesses import mail_limits
from idp.limits.throttled import seconds_until
from idp.mail import messages
from idp.mail.messages import MailMessage
from idp.management.call import Call
from idp.records import OutboxMessage
from idp.service import Service
from storage import Conflict, Insert, Stale, Unavailable, Write

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


@asynccontextmanager
async def counted(service: Service, call: Call, writes: Sequence[Write]) -> AsyncIterator[None]:
    """A block in which a unit of a call is committed: its messages are counted, and counted back
    if the unit is not stored. Raises TooManyToMailbox, TooManyOfOrganization."""
    if call.is_by_instance:
        yield
        return
    keys = list[str]()
    try:
        await _admit(service, writes, keys)
        yield
    except (Conflict, Stale, Unavailable, TooMany):
        for key in keys:
            await mail_limits.uncount(service, key)
        raise


async def _admit(service: Service, writes: Sequence[Write], keys: list[str]) -> None:
    """Counts the messages that these writes put into the outbox, and adds the keys of their
    counters to `keys`."""
    for kind, mail in _mails(service, writes):
        mailbox = _mailbox_key(service, kind, mail)
        keys.append(mailbox)
        await _count(service, mailbox, MAX_TO_MAILBOX, HOUR, TooManyToMailbox)
        if kind in _WITH_CODE:
            sum_key = f"mails:of:{mail.org_id}"
            most = service.config.organization_mails_per_day
            keys.append(sum_key)
            await _count(service, sum_key, most, DAY, TooManyOfOrganization)


async def _count(
    service: Service, key: str, most: int, window: timedelta, error: type[TooMany]
) -> None:
    count = await service.store.increment(key, window=window)
    if count.n > most:
        seconds = seconds_until(count.resets_at, service.clock.now())
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
    hidden = mail_limits.mailbox_key(service, mail.to)
    return f"mails:code:{hidden}" if kind in _WITH_CODE else f"mails:note:{hidden}:{mail.org_id}"
