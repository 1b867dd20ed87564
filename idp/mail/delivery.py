"""Delivery of messages from the outbox: each attempt is claimed, made and recorded; failed ones
are repeated later.

One conditional update claims an attempt, so no two processes make the same one. If a process ends
between sending and recording, the message is sent once more after its claim has expired, with the
same Message-ID and the same code: delivery is at least once, and as a rule exactly once.

The contents of sent messages are deleted. Failed attempts are repeated at growing intervals for a
day, except those that the server refuses permanently.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, Literal

from idp.foundation import logs, metrics, tracing
from idp.foundation.clock import has_come
from idp.mail import messages, mime, sms_hook, smtp
from idp.mail.failures import NotSent
from idp.records import OUTBOX, MailState, OutboxMessage
from idp.service import Service
from storage import Stale, Update, Value
from storage.confirmed_commit import commit_confirmed

EVERY_SECONDS: Final = 1.0
MINUTE: Final = 60
HOUR: Final = 60 * MINUTE
# From each failed attempt to the next; the attempt after the last pause is the last one.
PAUSES: Final = tuple(
    timedelta(seconds=seconds)
    for seconds in (
        MINUTE,
        5 * MINUTE,
        15 * MINUTE,
        30 * MINUTE,
        HOUR,
        2 * HOUR,
        4 * HOUR,
        8 * HOUR,
        8 * HOUR,
    )
)
ATTEMPTS: Final = len(PAUSES) + 1
BATCH: Final = 10  # messages that share a connection
CONNECTIONS: Final = 4  # at the same time, in one process
BATCH_SECONDS: Final = 100
CLAIM: Final = timedelta(seconds=120)  # longer than a batch may take

_log: Final = logs.logger(__name__)


async def deliver_due(service: Service) -> None:
    """Sends all messages that are due, except those that another process claims first."""
    while due := await _due(service):
        went_well = await service.background_tasks.run(_deliver(service, due))
        if not went_well or len(due) < BATCH * CONNECTIONS:
            return


async def _due(service: Service) -> list[OutboxMessage]:
    if not (service.config.sends_mail or service.config.sms_hook_url):
        return []
    mails: list[OutboxMessage] = []
    # A message in `sending` is due if the process that claimed it has ended.
    states: tuple[MailState, ...] = ("queued", "sending")
    for state in states:
        page = await service.store.find(
            OUTBOX, {"state": state}, order="due_at", limit=BATCH * CONNECTIONS
        )
        mails += page.records
    now = service.clock.now()
    return [
        each
        for each in mails
        if _is_due(each, now) and messages.is_sent(service.config, each.kind)
    ][: BATCH * CONNECTIONS]


def _is_due(mail: OutboxMessage, now: datetime) -> bool:
    pause = PAUSES[mail.attempts - 1] if 0 < mail.attempts < ATTEMPTS else CLAIM
    return has_come(mail.due_at, now, max(pause, CLAIM))


async def _deliver(service: Service, due: Sequence[OutboxMessage]) -> None:
    claims = await asyncio.gather(*(_claim(service, each) for each in due))
    claimed = [each for each, is_ours in zip(due, claims, strict=True) if is_ours]
    texts = [each for each in claimed if each.kind in messages.TEXT_MESSAGES]
    mails = [each for each in claimed if each.kind not in messages.TEXT_MESSAGES]
    batches = [mails[start : start + BATCH] for start in range(0, len(mails), BATCH)]
    work = [*(_send_batch(service, each) for each in batches)]
    work += [_send_text(service, each) for each in texts]
    for outcome in await asyncio.gather(*work, return_exceptions=True):
        if isinstance(outcome, BaseException):
            raise outcome  # the others have ended too; what was not sent is due again later


async def _claim(service: Service, mail: OutboxMessage) -> bool:
    """Claims the next attempt; returns whether this process has it."""
    if mail.attempts >= ATTEMPTS:  # a process ended during the last one
        await _finish(service, mail, "failed", "the process ended in the last attempt")
        return False
    due_at = service.clock.now() + CLAIM
    changed = {"state": "sending", "attempts": mail.attempts + 1, "due_at": due_at}
    try:
        await commit_confirmed(service.store, _update(mail, changed))
    except Stale:
        return False
    mail.state, mail.attempts = "sending", mail.attempts + 1
    return True


async def _send_batch(service: Service, mails: Sequence[OutboxMessage]) -> None:
    """Sends messages one after another. Those that were not tried are due again at once."""
    waiting = list(mails)
    try:
        async with asyncio.timeout(BATCH_SECONDS), smtp.connection(service.config) as server:
            while waiting:
                await _send(service, server, waiting[0])
                del waiting[0]
                if not server.is_open:
                    break
    except TimeoutError:
        if waiting:
            await _failed(service, waiting.pop(0), NotSent("the mail server took too long"))
    except NotSent as failure:  # the server accepts no message at present
        while waiting:
            await _failed(service, waiting.pop(0), failure)
    for mail in waiting:
        await _put_back(service, mail)


async def _send(service: Service, server: smtp.SmtpConnection, mail: OutboxMessage) -> None:
    opened = messages.opened(service, mail)
    try:
        envelope = mime.envelope(service.config, mail.id, mail.created_at, opened)
        with tracing.attempt(mail.attempts), tracing.call("mail", service.config.smtp_host):
            answer = await server.send(envelope)
    except mime.Unsendable as error:
        await _finish(service, mail, "failed", str(error))
    except NotSent as failure:
        await _failed(service, mail, failure)
    else:
        await _finish(service, mail, "sent", answer)


async def _send_text(service: Service, mail: OutboxMessage) -> None:
    try:
        async with asyncio.timeout(BATCH_SECONDS):
            answer = await sms_hook.send(service, mail, messages.opened(service, mail))
    except NotSent as failure:
        await _failed(service, mail, failure)
    else:
        await _finish(service, mail, "sent", answer)


async def _failed(service: Service, mail: OutboxMessage, failure: NotSent) -> None:
    """Schedules the next attempt, or gives up after the last."""
    if failure.is_final or mail.attempts >= ATTEMPTS:
        await _finish(service, mail, "failed", failure.why)
        return
    due_at = service.clock.now() + PAUSES[mail.attempts - 1]
    changed = {"state": "queued", "due_at": due_at, "last_error": failure.why}
    if await _stored(service, mail, changed):
        metrics.DELIVERIES.count(_channel(mail), "retried")
        _log.info("a letter could not be sent yet", why=failure.why, **_log_fields(mail))


async def _put_back(service: Service, mail: OutboxMessage) -> None:
    changed = {
        "state": "queued",
        "due_at": service.clock.now(),
        # The claimed attempt was not made.
        "attempts": mail.attempts - 1,
    }
    await _stored(service, mail, changed)


async def _finish(
    service: Service, mail: OutboxMessage, state: Literal["sent", "failed"], why: str
) -> None:
    """Records the final outcome, and deletes the contents of a sent message."""
    is_sent = state == "sent"
    changed = {"state": "sent", "sealed": ""} if is_sent else {"state": "failed"}
    if not await _stored(service, mail, changed | {"last_error": "" if is_sent else why}):
        return
    metrics.DELIVERIES.count(_channel(mail), state)
    if is_sent:
        _log.info("a letter was sent", **_log_fields(mail))
    else:
        _log.warning("a letter was not sent", why=why, **_log_fields(mail))


async def _stored(service: Service, mail: OutboxMessage, changed: Mapping[str, object]) -> bool:
    """Stores the change, unless another process has claimed the message by now; returns whether it
    did."""
    try:
        await commit_confirmed(service.store, _update(mail, changed))
    except Stale:
        return False
    return True


def _update(mail: OutboxMessage, changed: Mapping[str, object]) -> Update:
    """The write that fails with Stale if another attempt was claimed meanwhile."""
    expected: dict[str, Value] = {"state": mail.state, "attempts": mail.attempts}
    return Update(OUTBOX, mail.id, set=changed, expect=expected)


def _channel(mail: OutboxMessage) -> str:
    return "sms" if mail.kind in messages.TEXT_MESSAGES else "mail"


def _log_fields(mail: OutboxMessage) -> dict[str, object]:
    return {"mail_id": mail.id, "kind": mail.kind, "attempt": mail.attempts}
