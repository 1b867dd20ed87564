"""Delivery of messages from the outbox: each attempt is claimed, made and recorded; failed ones
are repeated later.

One conditional update claims an attempt, so no two processes make the same one. If a process ends
between sending and recording, the message is sent once more after its claim has expired, with the
same Message-ID and the same code: delivery is at least once, and normally exactly once.

The contents of sent messages are deleted. Failed attempts are repeated at growing intervals for a
day, except those that the server refuses permanently.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, Literal

from idp.foundation import logs, metrics, tracing
from idp.foundation.clock import is_past
from idp.mail import branding, messages, mime, sms_hook, smtp
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
        is_delivered = await service.background_tasks.run(_deliver(service, due))
        if not is_delivered or len(due) < BATCH * CONNECTIONS:
            return


async def _due(service: Service) -> list[OutboxMessage]:
    if not (service.config.sends_mail or service.config.sms_hook_url):
        return []
    candidates: list[OutboxMessage] = []
    # A message in `sending` is due if the process that claimed it has ended.
    states: tuple[MailState, ...] = ("queued", "sending")
    for state in states:
        page = await service.store.find(
            OUTBOX, {"state": state}, order="due_at", limit=BATCH * CONNECTIONS
        )
        candidates += page.records
    now = service.clock.now()
    return [
        each
        for each in candidates
        if _is_due(each, now) and messages.is_sent(service.config, each.kind)
    ][: BATCH * CONNECTIONS]


def _is_due(message: OutboxMessage, now: datetime) -> bool:
    pause = PAUSES[message.attempts - 1] if 0 < message.attempts < ATTEMPTS else CLAIM
    return is_past(message.due_at, now, max(pause, CLAIM))


async def _deliver(service: Service, due: Sequence[OutboxMessage]) -> None:
    claims = await asyncio.gather(*(_claim(service, each) for each in due))
    claimed = [each for each, is_claimed in zip(due, claims, strict=True) if is_claimed]
    text_messages = [each for each in claimed if each.kind in messages.TEXT_MESSAGES]
    mails = [each for each in claimed if each.kind not in messages.TEXT_MESSAGES]
    batches = [mails[start : start + BATCH] for start in range(0, len(mails), BATCH)]
    work = [*(_send_batch(service, each) for each in batches)]
    work += [_send_text(service, each) for each in text_messages]
    for outcome in await asyncio.gather(*work, return_exceptions=True):
        if isinstance(outcome, BaseException):
            raise outcome  # the others have ended too; messages that were not sent are due again


async def _claim(service: Service, message: OutboxMessage) -> bool:
    """Claims the next attempt; returns whether this process has it."""
    if message.attempts >= ATTEMPTS:  # a process ended during the last one
        await _finish(service, message, "failed", "the process ended in the last attempt")
        return False
    due_at = service.clock.now() + CLAIM
    changed = {"state": "sending", "attempts": message.attempts + 1, "due_at": due_at}
    try:
        await commit_confirmed(service.store, _update(message, changed))
    except Stale:
        return False
    message.state, message.attempts = "sending", message.attempts + 1
    return True


async def _send_batch(service: Service, mails: Sequence[OutboxMessage]) -> None:
    """Sends messages one after another. Those that were not attempted are due again."""
    remaining = list(mails)
    try:
        async with asyncio.timeout(BATCH_SECONDS), smtp.connection(service.config) as server:
            while remaining:
                await _send(service, server, remaining[0])
                del remaining[0]
                if not server.is_open:
                    break
    except TimeoutError:
        if remaining:
            await _record_failure(
                service, remaining.pop(0), NotSent("the mail server took too long")
            )
    except NotSent as failure:  # the server accepts no message at present
        while remaining:
            await _record_failure(service, remaining.pop(0), failure)
    for message in remaining:
        await _requeue(service, message)


async def _send(service: Service, server: smtp.SmtpConnection, message: OutboxMessage) -> None:
    contents = messages.opened(service, message)
    try:
        mail_branding = await branding.find(service, contents.org_id)
        envelope = mime.envelope(
            service.config, message.id, message.created_at, contents, mail_branding
        )
        with tracing.attempt(message.attempts), tracing.call("mail", service.config.smtp_host):
            answer = await server.send(envelope)
    except mime.Unsendable as error:
        await _finish(service, message, "failed", str(error))
    except NotSent as failure:
        await _record_failure(service, message, failure)
    else:
        await _finish(service, message, "sent", answer)


async def _send_text(service: Service, message: OutboxMessage) -> None:
    try:
        async with asyncio.timeout(BATCH_SECONDS):
            answer = await sms_hook.send(service, message, messages.opened(service, message))
    except NotSent as failure:
        await _record_failure(service, message, failure)
    else:
        await _finish(service, message, "sent", answer)


async def _record_failure(service: Service, message: OutboxMessage, failure: NotSent) -> None:
    """Schedules the next attempt, or gives up after the last."""
    if failure.is_final or message.attempts >= ATTEMPTS:
        await _finish(service, message, "failed", failure.reason)
        return
    due_at = service.clock.now() + PAUSES[message.attempts - 1]
    changed = {"state": "queued", "due_at": due_at, "last_error": failure.reason}
    if await _store(service, message, changed):
        metrics.DELIVERIES.count(_channel(message), "retried")
        _log.info("a message could not be sent yet", why=failure.reason, **_log_fields(message))


async def _requeue(service: Service, message: OutboxMessage) -> None:
    changed = {
        "state": "queued",
        "due_at": service.clock.now(),
        # The claimed attempt was not made.
        "attempts": message.attempts - 1,
    }
    await _store(service, message, changed)


async def _finish(
    service: Service, message: OutboxMessage, state: Literal["sent", "failed"], reason: str
) -> None:
    """Records the final outcome, and deletes the contents of a sent message."""
    is_sent = state == "sent"
    changed = {"state": "sent", "sealed": ""} if is_sent else {"state": "failed"}
    if not await _store(service, message, changed | {"last_error": "" if is_sent else reason}):
        return
    metrics.DELIVERIES.count(_channel(message), state)
    if is_sent:
        _log.info("a message was sent", **_log_fields(message))
    else:
        _log.warning("a message was not sent", why=reason, **_log_fields(message))


async def _store(service: Service, message: OutboxMessage, changed: Mapping[str, object]) -> bool:
    """Stores the change, unless another process has claimed the message by now; returns whether it
    did."""
    try:
        await commit_confirmed(service.store, _update(message, changed))
    except Stale:
        return False
    return True


def _update(message: OutboxMessage, changed: Mapping[str, object]) -> Update:
    """Returns the write that fails with Stale if another attempt was claimed meanwhile."""
    expected: dict[str, Value] = {"state": message.state, "attempts": message.attempts}
    return Update(OUTBOX, message.id, set=changed, expect=expected)


def _channel(message: OutboxMessage) -> str:
    return "sms" if message.kind in messages.TEXT_MESSAGES else "mail"


def _log_fields(message: OutboxMessage) -> dict[str, object]:
    return {"mail_id": message.id, "kind": message.kind, "attempt": message.attempts}
