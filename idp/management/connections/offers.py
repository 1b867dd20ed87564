"""Calls on the connections that sign-in pages offer."""

from __future__ import annotations

from typing import Annotated

from idp import changes
from idp.changes import Change
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
from storage import Update


class NewOffer(Request, frozen=True, kw_only=True):
    """A connection of the organization, or one of the installation (`IDP_OWNER_TYPE_SYSTEM`)."""

    idp_id: Name
    owner_type: Annotated[str, OneOf((ORG, SYSTEM))] = ORG


class OfferSearch(Search, frozen=True, kw_only=True):
    """Which page of the offered connections."""


async def add(
    service: Service, call: Call, request: NewOffer, *, is_instance: bool
) -> Change[Changed]:
    """Lets the sign-in pages of the call's organization, or of all that have no list of their own,
    offer a connection.

    An organization's first call copies the installation's list. Raises PermissionDenied, NotFound
    (the organization, or the connection).
    """

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
    exists_guard = Update(CONNECTIONS, connection.id, expect={"created_at": connection.created_at})
    return _stored(service, call, owner, stored, ids, exists_guard)


async def remove(
    service: Service, call: Call, connection_id: str, *, is_instance: bool
) -> Change[Changed]:
    """Removes a connection from those that the sign-in pages of the call's organization, or of all
    that have no list of their own, offer.

    Raises PermissionDenied, NotFound.
    """

    owner = await read.owner_of(service, call, is_instance=is_instance)
    own, default = await offers.records(service, owner)
    stored = default if owner is None else own
    offered_ids = _ids(stored or default)
    if connection_id not in offered_ids:
        raise NotFound("the connection is not offered", error_code="connection.not_offered")
    ids = [each for each in offered_ids if each != connection_id]
    return _stored(service, call, owner, stored, ids)


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


def _stored(
    service: Service,
    call: Call,
    owner: str | None,
    stored: OfferedConnections | None,
    ids: list[str],
    *guards: Update,
) -> Change[Changed]:
    """Returns the change that stores a list of offered connections in place of `stored`."""
    now, resource_owner = service.clock.now(), owner or call.caller.org_id
    # Pages cache the list; in other processes the cache expires soon.
    afterwards = [service.settings_cache.forget]
    if stored is None:
        record = OfferedConnections(
            id=offered_id(owner), org_id=owner, connection_ids=ids, created_at=now, changed_at=now
        )
        payload, event = event_payloads.of_list([], ids), "offered_connections.created"
        writes = changes.created(service, call, OFFERED_CONNECTIONS, record, event, payload)
        answer = Changed(details=answers.details(record, resource_owner))
        return Change(answer, [*writes, *guards], afterwards)
    return changes.updated(
        service,
        call,
        OFFERED_CONNECTIONS,
        stored,
        {"connection_ids": ids},
        "offered_connections.changed",
        resource_owner,
        event_payloads.of_list(stored.connection_ids, ids),
    ).change(*guards, afterwards=afterwards)


def _ids(record: OfferedConnections | None) -> list[str]:
    return record.connection_ids if record else []
