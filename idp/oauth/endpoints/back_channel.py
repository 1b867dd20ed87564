"""Notifying applications of a session's end by HTTP requests (Back-Channel Logout 1.0).

The messages are stored in the unit that ends the session, so that none is lost. They are sent
immediately, and again at intervals while an application does not answer. One conditional update
claims an attempt, so no two processes make the same one.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from typing import Any, Final

from idp.foundation import logs, metrics, tracing
from idp.foundation.clock import is_past
from idp.keys import jws
from idp.oauth.endpoints.logout_turns import LogoutTurns
from idp.outgoing.failures import Failed, NotAllowed
from idp.records import APPLICATIONS, LOGOUT_MESSAGES, Application, LogoutMessage
from idp.service import Service
from storage import Insert, Stale, Update, Value, Write

TYPE: Final = "logout+jwt"
EVENT: Final = "http://schemas.openid.net/event/backchannel-logout"
TOKEN_SECONDS: Final = 120
# From each attempt to the next, within about a quarter of an hour in all. The last one is the time
# after which the end of a process during the last attempt is detected. Each is longer than an
# attempt can take.
DELAYS: Final = tuple(timedelta(seconds=each) for each in (30, 120, 300, 450, 60))
EVERY_SECONDS: Final = 10
_PAGE: Final = 200
_DELIVERED: Final = (200, 204)
_REFUSED: Final = 400
_ADDRESS_CLOSED: Final = (
    "a back-channel address may not be called: outgoing_networks does not open it"
)

_log: Final = logs.logger(__name__)


def send_soon(service: Service, committed: Sequence[Write]) -> None:
    """Starts a background task that sends the logout messages of a unit that was just stored.

    `committed` has all writes of the unit.
    """
    deliverable = [
        write.record
        for write in committed
        if isinstance(write, Insert) and isinstance(write.record, LogoutMessage)
    ]
    if deliverable:
        service.background_tasks.start(_deliver_all(service, deliverable))


async def deliver_due(service: Service) -> None:
    """Sends the waiting logout messages that are due now, unless another process claims them
    first. The organizations take turns (`logout_turns`)."""
    is_more = True
    while is_more:
        turns = await _due(service)
        is_sent = await service.background_tasks.run(turns.take(partial(_deliver, service)))
        is_more = is_sent and turns.is_unfinished


async def _due(service: Service) -> LogoutTurns:
    turns, after = LogoutTurns(service.timer), None
    while True:
        page = await service.store.find(
            LOGOUT_MESSAGES, {"state": "waiting"}, order="due_at", limit=_PAGE, after=after
        )
        now, after = service.clock.now(), page.after
        due = [each for each in page.records if is_past(each.due_at, now, max(DELAYS))]
        await _add(service, turns, due)
        if after is None or len(due) < _PAGE:
            return turns


async def _deliver_all(service: Service, messages: Sequence[LogoutMessage]) -> None:
    turns = LogoutTurns(service.timer)
    await _add(service, turns, messages)
    await turns.take(partial(_deliver, service))


async def _add(service: Service, turns: LogoutTurns, messages: Sequence[LogoutMessage]) -> None:
    """Adds messages under the organizations that have chosen their receivers."""
    clients = await service.store.get_many(
        [(APPLICATIONS, message.client_id) for message in messages]
    )
    for message, client in zip(messages, clients, strict=True):
        turns.add(client.org_id if client is not None else None, message)


async def _deliver(service: Service, message: LogoutMessage) -> None:
    """Makes one attempt, unless another process makes it."""
    if message.attempts == len(DELAYS):
        await _finish(service, message, "failed", "the process ended during the last attempt")
    # The attempt is claimed before it is made: a process that ends during it must not repeat it
    # immediately.
    elif await _claim(service, message):
        message.attempts += 1
        await _attempt(service, message)


async def _claim(service: Service, message: LogoutMessage) -> bool:
    due_at = service.clock.now() + DELAYS[message.attempts]
    changed = {"due_at": due_at, "attempts": message.attempts + 1}
    try:
        await service.store.commit(_update(message, changed))
    except Stale:
        return False
    return True


async def _attempt(service: Service, message: LogoutMessage) -> None:
    client = await service.store.get(APPLICATIONS, message.client_id)
    uri = client.back_channel_logout_uri if client and client.state == "active" else None
    if client is None or uri is None:
        await _finish(
            service, message, "refused", "the application no longer has a back-channel address"
        )
        return
    token = await logout_token(service, client, message)
    try:
        with tracing.attempt(message.attempts):
            calls = service.outgoing.for_owner(client.org_id)
            status = await calls.post_form(service.config, uri, {"logout_token": token})
    except Failed as error:
        if isinstance(error, NotAllowed):
            _log.warning(
                _ADDRESS_CLOSED,
                why=str(error),
                setting="outgoing_networks",
                **_log_fields(message),
            )
        await _record_failure(service, message, str(error))
        return
    if status in _DELIVERED:
        await _finish(service, message, "delivered", f"status {status}")
    # By 400 an application states that the token is invalid or that its logout failed (2.8): no
    # further attempt is made.
    elif status == _REFUSED:
        await _finish(service, message, "refused", f"status {status}")
    else:
        await _record_failure(service, message, f"status {status}")


async def logout_token(service: Service, client: Application, message: LogoutMessage) -> str:
    """Returns the signed logout token of a message (Back-Channel Logout 1.0, 2.4).

    Each attempt has the same `jti` and a new `iat`.
    """
    issued_at = int(service.clock.now().timestamp())
    claims: dict[str, Any] = {
        "iss": service.config.issuer,
        "sub": message.user_id,
        "aud": client.id,
        "iat": issued_at,
        "exp": issued_at + TOKEN_SECONDS,
        "jti": message.id,
        "events": {EVENT: {}},
        "sid": message.session_id,
    }
    return jws.sign(await service.keys.signing(client.signing_algorithm), TYPE, claims)


async def _record_failure(service: Service, message: LogoutMessage, reason: str) -> None:
    if message.attempts == len(DELAYS):
        await _finish(service, message, "failed", reason)
    else:
        metrics.DELIVERIES.count("back_channel", "retried")
        _log.info("a logout token could not be delivered yet", why=reason, **_log_fields(message))


async def _finish(service: Service, message: LogoutMessage, state: str, reason: str) -> None:
    """Stores the final delivery status; nothing is sent after that."""
    try:
        await service.store.commit(_update(message, {"state": state}))
    except Stale:
        return  # another process has claimed the next attempt
    metrics.DELIVERIES.count("back_channel", "sent" if state == "delivered" else "failed")
    if state == "delivered":
        _log.info("a logout token was delivered", why=reason, **_log_fields(message))
    else:
        _log.warning(
            "a logout token was not delivered", outcome=state, why=reason, **_log_fields(message)
        )


def _update(message: LogoutMessage, changed: dict[str, object]) -> Update:
    """Returns a write that succeeds in one process only: it expects that the next attempt has not
    begun."""
    expected: dict[str, Value] = {"state": "waiting", "attempts": message.attempts}
    return Update(LOGOUT_MESSAGES, message.id, set=changed, expect=expected)


def _log_fields(message: LogoutMessage) -> dict[str, object]:
    return {
        "message_id": message.id,
        "client_id": message.client_id,
        "session_id": message.session_id,
        "attempt": message.attempts,
    }
