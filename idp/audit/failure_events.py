"""Events of refused attempts: of sign-ins, client authentication and impersonation.

They are written outside the request, by `flush`. The first attempt is stored as an event
immediately; further ones from the same source are one event in ten minutes, which is updated while
its count grows. A process that is killed loses the counts of its last minute. Attempts with login
names that no user has are only counted, and no event contains such a name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from msgspec import structs

from idp.audit import events
from idp.audit.events import AuditEntry
from idp.foundation.network_keys import network_key
from idp.limits.recent_failures import PERIOD, FailureSource, FailureSum
from idp.records import APPLICATIONS, EVENTS, INSTANCE_ID, INSTANCES, USERS
from idp.service import Service
from storage import Collection, Insert, Key, Stale, Unavailable, Update

ACTOR: Final = "anonymous"

SIGN_IN: Final = "user.sign_in.failed"
UNKNOWN_NAME_SIGN_IN: Final = "instance.sign_in.failed"
NETWORK: Final = "network.slowed"
CLIENT: Final = "client.authentication_failed"
IMPERSONATION: Final = "token.impersonation_refused"

_OPEN: Final = "open"  # the stream of a count that still grows
_ABANDONED_AFTER: Final = 2 * PERIOD
_PAGE_SIZE: Final = 500

_RECORDS: Final[dict[str, Sequence[Collection[Any]]]] = {
    SIGN_IN: (USERS,),
    CLIENT: (APPLICATIONS, USERS),
    IMPERSONATION: (USERS,),
}


class EventSubject(NamedTuple):
    """The record that an event is about, and the organization of that record."""

    collection: Collection[Any] = INSTANCES
    id: str = INSTANCE_ID
    org_id: str | None = None
    sequence: int = 0


def sign_in(
    service: Service, user_id: str, cause: str, network: str, client_id: str | None
) -> None:
    """Counts a refused attempt to sign in as this user, for `flush`.

    `cause` and `network` are in the event; so is `client_id`, that of the first attempt if they
    differ.
    """
    payload = {"cause": cause, "network": network, "clientId": client_id or ""}
    source = FailureSource(SIGN_IN, user_id, (network, cause), combined_type=UNKNOWN_NAME_SIGN_IN)
    service.failures.record(source, payload, service.clock.now())


def unknown_name_sign_in(service: Service, name: str, network: str) -> None:
    """Counts a refused attempt with a login name that no user has; `name` is a digest of it."""
    now = service.clock.now()
    service.failures.record_combined(UNKNOWN_NAME_SIGN_IN, now, name=name, network=network)


def network_slowed(service: Service, network: str, accounts: int, until: datetime) -> None:
    """Records, for `flush`, that attempts from a network are slowed down until the instant
    `until`, because this number of accounts had failed attempts from it."""
    payload = {"network": network, "accounts": str(accounts), "until": _instant(until)}
    service.failures.record_once(
        FailureSource(NETWORK, parts=(network,)), payload, service.clock.now()
    )


def client(service: Service, client_id: str | None, address: str) -> None:
    """Counts a failed client authentication from this IP address, for `flush`; `client_id` is None
    if no registered client is named."""
    network = network_key(address)
    payload = {"network": network, "clientId": client_id or ""}
    service.failures.record(
        FailureSource(CLIENT, client_id or "", (network,)), payload, service.clock.now()
    )


def impersonation(
    service: Service, actor_id: str | None, subject_id: str, client_id: str | None
) -> None:
    """Counts, for `flush`, that an actor was not allowed to act for the user `subject_id`;
    `actor_id` and `client_id` are None if they are unknown."""
    payload = {"actor": actor_id or "", "subject": subject_id, "clientId": client_id or ""}
    source = FailureSource(IMPERSONATION, subject_id, (actor_id or "", client_id or ""))
    service.failures.record(source, payload, service.clock.now())


async def flush(service: Service, *, is_last: bool = False) -> None:
    """Writes the counted attempts as events, as far as they are due (`Failures.take_due`), with
    `is_last` all; those that could not be written are due again at the next call."""
    due_sums = service.failures.take_due(service.clock.now(), is_last=is_last)
    try:
        records = await _records(service, due_sums)
        while due_sums:
            await _write(service, due_sums[0], _subject(due_sums[0], records))
            # Only after the write: what remains is given back.
            due_sums.pop(0)
    finally:
        for failure_sum in due_sums:
            service.failures.give_back(failure_sum)


async def _records(service: Service, due: Sequence[FailureSum]) -> dict[Key, Any]:
    keys = {key for each in due for key in _keys(each)}
    ordered = sorted(keys, key=lambda key: (key[0].name, key[1]))
    if not ordered:
        return {}
    return dict(zip(ordered, await service.store.get_many(ordered), strict=True))


def _keys(failure_sum: FailureSum) -> list[Key]:
    """The keys of the records that the sum may be about."""
    record_id = failure_sum.source.record_id
    return [
        (collection, record_id)
        for collection in _RECORDS.get(failure_sum.source.type, ())
        if record_id
    ]


def _subject(failure_sum: FailureSum, records: Mapping[Key, Any]) -> EventSubject:
    for collection, record_id in _keys(failure_sum):
        if (record := records[collection, record_id]) is not None:
            return EventSubject(collection, record_id, record.org_id)
    return EventSubject()


async def _write(service: Service, failure_sum: FailureSum, subject: EventSubject) -> None:
    payload = dict(failure_sum.payload) | _counts(failure_sum)
    state, event_id = _state(failure_sum), failure_sum.event_id
    if event_id is not None and await _updated(service, event_id, sorted(payload.items()), state):
        return
    actor, now = failure_sum.payload.get("actor") or ACTOR, service.clock.now()
    entry = AuditEntry(failure_sum.source.type, actor, now, payload=payload)
    event = structs.replace(
        events.event(service.random, subject.collection, subject, entry), **state
    )
    failure_sum.event_id = event.id  # also if the outcome is unknown: the next write finds out
    try:
        await service.store.commit(Insert(EVENTS, event))
    except Unavailable:
        failure_sum.event_id = None
        raise


async def _updated(
    service: Service, event_id: str, payload: list[tuple[str, str]], state: Mapping[str, Any]
) -> bool:
    """Updates the event of a sum; returns whether the event has these counts now. A final event
    is not changed, because it may be sealed."""
    write = Update(EVENTS, event_id, set={"payload": payload, **state}, expect={"stream": _OPEN})
    try:
        await service.store.commit(write)
    except Stale:
        # Its insertion was never stored, or an update whose answer was lost has made it final.
        stored = await service.store.get(EVENTS, event_id)
        return stored is not None and sorted(stored.payload) == payload
    return True


def _state(failure_sum: FailureSum) -> dict[str, Any]:
    """The fields by which sealing recognises an event that is not updated any more."""
    if failure_sum.is_over:
        return {"stream": None, "is_final": True}
    return {"stream": _OPEN, "is_final": None}


async def finish_abandoned(service: Service) -> None:
    """Marks counts as final whose process has ended without doing so. Raises StorageError."""
    ended_before = service.clock.now() - _ABANDONED_AFTER
    page = await service.store.find(EVENTS, {"stream": _OPEN, "position": None}, limit=_PAGE_SIZE)
    final = {"stream": None, "is_final": True}
    updates = [
        [Update(EVENTS, event.id, set=final, expect={"stream": _OPEN})]
        for event in page.records
        if event.at <= ended_before
    ]
    for outcome in await service.store.commit_each(updates) if updates else ():
        if outcome is not None and not isinstance(outcome, Stale):
            raise outcome


def _counts(failure_sum: FailureSum) -> dict[str, str]:
    """The counting members of the payload."""
    count = {"count": str(failure_sum.count)}
    match failure_sum.source.type:
        case "instance.sign_in.failed":
            return count | {
                "names": str(len(failure_sum.names)),
                "networks": str(len(failure_sum.networks)),
            }
        case "user.sign_in.failed" | "client.authentication_failed":
            return count | {
                "since": _instant(failure_sum.first_at),
                "until": _instant(failure_sum.until),
            }
        case "token.impersonation_refused":
            return count
    return {}


def _instant(instant: datetime) -> str:
    return f"{instant:%Y-%m-%dT%H:%M:%SZ}"
