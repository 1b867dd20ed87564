"""Storing of refusals that were too many to be stored at once: some a second, by turns of their
clients, and the newest 200 of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from msgspec import Struct, structs

from idp.foundation import logs
from idp.records import APPLICATIONS, Application
from idp.records.refusals import REFUSALS, Refusal
from idp.service import Service
from storage import Conflict, Delete, Insert, InvalidValue, StorageError, Unknown, Write

_FLUSH_SECONDS: Final = 1.0
_MAX_STORED: Final = 50  # at a time

_log: Final = logs.logger(__name__)


class HeldRefusal(Struct, frozen=True):
    """A refusal that waits to be stored; `dropped_scope` is the sentence to add if the
    application is not registered for refresh tokens, empty for none."""

    record: Refusal
    dropped_scope: str


async def hold(service: Service, refusal: HeldRefusal) -> None:
    """Stores the refusal within the next seconds, if an application has its client_id. Has no
    effect without one. Raises StorageError, only where too many refusals of other ids wait."""
    client_id = refusal.record.client_id
    if client_id is None:
        return
    if not service.held_refusals.has_room(client_id):
        await _check(service, [client_id])
    service.held_refusals.hold(client_id, refusal)
    _expect_flush(service)


def _expect_flush(service: Service) -> None:
    held = service.held_refusals
    if held.waiting and not held.is_flush_due:
        held.is_flush_due = True
        service.timer.call_later(
            _FLUSH_SECONDS, lambda: service.background_tasks.start(_flush(service))
        )


async def _flush(service: Service) -> None:
    try:
        await _check(service, service.held_refusals.unchecked_ids())
        await _store_next(service)
    except StorageError as failure:
        _log.warning("refusals not stored", error=type(failure).__name__)
    finally:
        service.held_refusals.is_flush_due = False
    _expect_flush(service)


async def _check(service: Service, ids: Sequence[str]) -> dict[str, Application]:
    """Returns the applications of these client_ids, and drops the refusals of those that no
    application has."""
    found = await service.store.get_many([(APPLICATIONS, client_id) for client_id in ids])
    clients = {client.id: client for client in found if client}
    service.held_refusals.check(ids, clients)
    return clients


async def _store_next(service: Service) -> None:
    ids = list(dict.fromkeys(each for each, _ in service.held_refusals.next_ones(_MAX_STORED)))
    clients = await _check(service, ids)
    refusals = [
        (client_id, refusal)
        for client_id, refusal in service.held_refusals.next_ones(_MAX_STORED)
        if client_id in clients
    ]
    writes = [_insert(clients[client_id], refusal) for client_id, refusal in refusals]
    try:
        if writes:
            await service.store.commit(*writes, *_deletions(service, refusals))
    except (Conflict, Unknown):  # now or before, the answer of the database was lost
        await _end_stored(service, refusals)
        raise
    except InvalidValue:  # it would be refused each time
        _end(service, refusals)
        raise
    _end(service, refusals)


def _insert(client: Application, refusal: HeldRefusal) -> Insert:
    record = refusal.record
    if refusal.dropped_scope and "refresh_token" not in client.grant_types:
        sentence = f"{record.sentence} {refusal.dropped_scope}"
        record = structs.replace(record, sentence=sentence)
    return Insert(REFUSALS, record)


def _deletions(service: Service, refusals: Sequence[tuple[str, HeldRefusal]]) -> list[Write]:
    counts = Counter(client_id for client_id, _ in refusals)
    return [
        Delete(REFUSALS, record_id)
        for client_id, count in counts.items()
        for record_id in service.held_refusals.replaced_ids(client_id, count)
    ]


async def _end_stored(service: Service, refusals: Sequence[tuple[str, HeldRefusal]]) -> None:
    keys = [(REFUSALS, refusal.record.id) for _, refusal in refusals]
    found = await service.store.get_many(keys)
    _end(service, [each for each, record in zip(refusals, found, strict=True) if record])


def _end(service: Service, refusals: Sequence[tuple[str, HeldRefusal]]) -> None:
    for client_id, refusal in refusals:
        service.held_refusals.end(client_id, refusal, refusal.record.id)
