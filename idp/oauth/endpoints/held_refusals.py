"""Storing of refusals that were too many to be stored at once: some a second, by turns of their
clients, and the newest 200 of each."""

from __future__ import annotations

from typing import Final

from msgspec import Struct, structs

from idp.foundation import logs
from idp.records import APPLICATIONS
from idp.records.refusals import REFUSALS, Refusal
from idp.service import Service
from storage import Delete, Insert, StorageError, Write

_FLUSH_SECONDS: Final = 1.0
_MAX_STORED: Final = 50  # at a time
_MAX_CHECKED: Final = 1_000  # client_ids at a time

_log: Final = logs.logger(__name__)


class HeldRefusal(Struct, frozen=True):
    """A refusal that waits to be stored; `dropped_scope` is the sentence to add if the
    application is not registered for refresh tokens, empty for none."""

    record: Refusal
    dropped_scope: str


def hold(service: Service, refusal: HeldRefusal) -> None:
    """Stores the refusal within the next seconds, if an application has its client_id. Has no
    effect without one."""
    if refusal.record.client_id is None:
        return
    service.held_refusals.hold(refusal.record.client_id, refusal)
    _expect_flush(service)


def _expect_flush(service: Service) -> None:
    held = service.held_refusals
    if held.waiting and not held.is_flush_due:
        held.is_flush_due = True
        service.timer.call_later(
            _FLUSH_SECONDS, lambda: service.background_tasks.start(_flush(service))
        )


async def _flush(service: Service) -> None:
    service.held_refusals.is_flush_due = False
    try:
        await _check(service)
        await _store(service)
    except StorageError as failure:
        _log.warning("refusals not stored", error=type(failure).__name__)
    _expect_flush(service)


async def _check(service: Service) -> None:
    """Drops the refusals of client_ids that no application has."""
    ids = service.held_refusals.unchecked_ids(_MAX_CHECKED)
    if ids:
        found = await service.store.get_many([(APPLICATIONS, client_id) for client_id in ids])
        service.held_refusals.check(ids, {client.id for client in found if client})


async def _store(service: Service) -> None:
    taken = service.held_refusals.take(_MAX_STORED)
    ids = list(dict.fromkeys(client_id for client_id, _ in taken))
    found = await service.store.get_many([(APPLICATIONS, client_id) for client_id in ids])
    clients = {client.id: client for client in found if client}
    writes: list[Write] = []
    for client_id, refusal in taken:
        client = clients.get(client_id)
        if client is None:
            continue
        record = refusal.record
        if refusal.dropped_scope and "refresh_token" not in client.grant_types:
            sentence = f"{record.sentence} {refusal.dropped_scope}"
            record = structs.replace(record, sentence=sentence)
        writes.append(Insert(REFUSALS, record))
        replaced_id = service.held_refusals.replaced_by(client_id, record.id)
        if replaced_id is not None:
            writes.append(Delete(REFUSALS, replaced_id))
    if writes:
        await service.store.commit(*writes)
