"""Calls on the connections that sign-in pages offer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated

from msgspec import structs

from idp.audit import events, versioned_updates
from idp.audit.events import AuditEntry
from idp.foundation.errors import NotFound
from idp.management import search as management_search
from idp.management.call import Call
from idp.management.connections import event_payloads, read, views
from idp.management.connections.read import OfferableFound
from idp.management.connections.views import ORG, SYSTEM
from idp.management.search import Search
from idp.records.connections import (
    CONNECTIONS,
    OFFERED_CONNECTIONS,
    OfferedConnections,
    offered_id,
)
from idp.schema import answers
from idp.schema.answers import Changed
from idp.schema.field_rules import Name, OneOf
from idp.schema.reading import Request
from idp.search.query_planner import Filter
from idp.service import Service
from idp.upstream import offers
from storage import Conflict, Stale, Update
from storage.confirmed_commit import commit_confirmed


class NewOffer(Request, frozen=True, kw_only=True):
    """A connection of the organization, or one of the installation (`IDP_OWNER_TYPE_SYSTEM`)."""

    idp_id: Name
    owner_type: Annotated[str, OneOf((ORG, SYSTEM))] = ORG


class OfferSearch(Search, frozen=True, kw_only=True):
    """Which page of the offered connections."""


async def add(service: Service, call: Call, request: NewOffer, *, is_instance: bool) -> Changed:
    """Lets the sign-in pages of the call's organization, or of all that have no list of their own,
    offer a connection.

    An organization's first call copies the installation's list. Raises PermissionDenied, NotFound
    (the organization, or the connection).
    """

    async def attempt() -> OfferedConnections:
        owner = await read.owner_of(service, call, is_instance=is_instance)
        connection = await service.store.get(CONNECTIONS, request.idp_id)
        expected = None if is_instance or request.owner_type == SYSTEM else owner
        if connection is None or connection.org_id != expected:
            message = "there is no such connection"
            raise NotFound(message, error_code="connection.not_found", field="idpId")
        own, default = await offers.records(service, owner)
        stored = default if owner is None else own
        offered_ids = _ids(stored or default)
        ids = offered_ids if connection.id in offered_ids else [*offered_ids, connection.id]
        exists_guard = Update(
            CONNECTIONS, connection.id, expect={"created_at": connection.created_at}
        )
        return await _store(service, call, owner, stored, ids, exists_guard)

    return await _repeated(service, call, attempt)


async def remove(
    service: Service, call: Call, connection_id: str, *, is_instance: bool
) -> Changed:
    """Removes a connection from those that the sign-in pages of the call's organization, or of all
    that have no list of their own, offer.

    Raises PermissionDenied, NotFound.
    """

    async def attempt() -> OfferedConnections:
        owner = await read.owner_of(service, call, is_instance=is_instance)
        own, default = await offers.records(service, owner)
        stored = default if owner is None else own
        offered_ids = _ids(stored or default)
        if connection_id not in offered_ids:
            raise NotFound("the connection is not offered", error_code="connection.not_offered")
        ids = [each for each in offered_ids if each != connection_id]
        return await _store(service, call, owner, stored, ids)

    return await _repeated(service, call, attempt)


async def search(
    service: Service, call: Call, request: OfferSearch, *, is_instance: bool
) -> OfferableFound:
    """Returns the connections that the sign-in pages of the call's organization offer, or of all
    that have no list of their own.

    Raises PermissionDenied, NotFound, InvalidArgument (the cursor).
    """
    owner = await read.owner_of(service, call, is_instance=is_instance)
    ids = [each.id for each in await offers.offered(service, owner)]
    page = await management_search.find(
        service, CONNECTIONS, request.query, [Filter(path="id", how="in", value=ids)]
    )
    instance_id = await read.instance_org_id(service)
    return OfferableFound(
        details=page.details,
        result=[views.summary(each, instance_id) for each in page.records],
        next_cursor=page.next_cursor,
    )


async def _store(
    service: Service,
    call: Call,
    owner: str | None,
    stored: OfferedConnections | None,
    ids: list[str],
    *guards: Update,
) -> OfferedConnections:
    """Stores a list of offered connections in place of `stored`, and returns its record."""
    now = service.clock.now()
    if stored is None:
        record = OfferedConnections(
            id=offered_id(owner), org_id=owner, connection_ids=ids, created_at=now, changed_at=now
        )
        payload = event_payloads.of_list([], ids)
        entry = AuditEntry("offered_connections.created", call.actor, now, payload=payload)
        writes = events.insertion(service.random, OFFERED_CONNECTIONS, record, entry)
        try:
            await commit_confirmed(service.store, *writes, *guards)
        except Conflict as conflict:  # a concurrent call has stored the list
            raise Stale(OFFERED_CONNECTIONS.name, conflict.field) from conflict
        return record
    if stored.connection_ids == ids:
        return stored
    values = {"connection_ids": ids, "changed_at": now}
    payload = event_payloads.of_list(stored.connection_ids, ids)
    entry = AuditEntry("offered_connections.changed", call.actor, now, payload=payload)
    writes = events.update(service.random, OFFERED_CONNECTIONS, stored, values, entry)
    await commit_confirmed(service.store, *writes, *guards)
    return structs.replace(
        stored, connection_ids=ids, changed_at=now, sequence=stored.sequence + 1
    )


async def _repeated(
    service: Service, call: Call, attempt: Callable[[], Awaitable[OfferedConnections]]
) -> Changed:
    record = await versioned_updates.repeated(attempt)
    service.settings_cache.forget()  # pages cache it; in other processes the cache expires soon
    return Changed(details=answers.details(record, record.org_id or call.caller.org_id))


def _ids(record: OfferedConnections | None) -> list[str]:
    return record.connection_ids if record else []
