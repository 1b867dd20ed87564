"""Calls that return and search connections."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar

from msgspec import structs

from idp.foundation.errors import FieldProblem, NotFound
from idp.management import call as management_call
from idp.management import search as management_search
from idp.management.call import Call
from idp.management.connections import views
from idp.management.connections.views import (
    ORG,
    SYSTEM,
    ConnectionFound,
    ConnectionSummary,
    ConnectionView,
)
from idp.management.search import MAX_FILTERS, Search, SearchDetails, TextQuery
from idp.records import INSTANCE_ID, INSTANCES
from idp.records.connections import CONNECTIONS, ProviderConnection
from idp.schema.answers import Answer
from idp.schema.field_rules import Items, Name, OneOf
from idp.schema.reading import Request
from idp.search.query_planner import Filter
from idp.service import Service


class ConnectionIdQuery(Request, frozen=True, kw_only=True):
    id: Name


class ConnectionNameQuery(TextQuery, frozen=True, kw_only=True):
    name: Name


class OwnerTypeQuery(Request, frozen=True, kw_only=True):
    """Whose connections: by default those of the organization."""

    owner_type: Annotated[str, OneOf((ORG, SYSTEM))]


class ConnectionQuery(Request, frozen=True, kw_only=True):
    """One filter."""

    one_of: ClassVar[tuple[tuple[str, ...], ...]] = (
        ("idp_id_query", "idp_name_query", "owner_type_query"),
    )

    idp_id_query: ConnectionIdQuery | None = None
    idp_name_query: ConnectionNameQuery | None = None
    owner_type_query: OwnerTypeQuery | None = None

    def check(self) -> Iterator[FieldProblem]:
        if all(value is None for value in structs.astuple(self)):
            yield FieldProblem("field.required", "", "must contain one filter")


class ConnectionSearch(Search, frozen=True, kw_only=True):
    """Every filter counts."""

    queries: Annotated[list[ConnectionQuery], Items(MAX_FILTERS)] = []


class ConnectionsFound(Answer, frozen=True, kw_only=True):
    """`nextCursor` is there as long as there may be more."""

    details: SearchDetails
    result: list[ConnectionView] = []
    next_cursor: str = ""


class OfferableFound(Answer, frozen=True, kw_only=True):
    """`nextCursor` is there as long as there may be more."""

    details: SearchDetails
    result: list[ConnectionSummary] = []
    next_cursor: str = ""


async def owner_of(service: Service, call: Call, *, is_instance: bool) -> str | None:
    """Returns the owner of the connections that a call is about: the call's organization, or None
    for the installation. Raises PermissionDenied, NotFound."""
    return None if is_instance else (await management_call.organization(service, call)).id


async def find(
    service: Service, call: Call, connection_id: str, *, is_instance: bool
) -> ProviderConnection:
    """Returns a connection of the installation, or of an organization that the call may act in.

    Raises NotFound.
    """
    connection = await service.store.get(CONNECTIONS, connection_id)
    if connection is None or not _is_reached(call, connection, is_instance=is_instance):
        raise no_connection()
    return connection


def _is_reached(call: Call, connection: ProviderConnection, *, is_instance: bool) -> bool:
    if connection.org_id is None:
        return is_instance
    return not is_instance and call.reaches(connection.org_id)


def no_connection() -> NotFound:
    """Returns the error for a connection that does not exist, or that the caller may not know
    of."""
    return NotFound("there is no such connection", error_code="connection.not_found")


async def show(
    service: Service, call: Call, connection_id: str, *, is_instance: bool
) -> ConnectionFound:
    """Returns a connection, without its secrets. Raises NotFound."""
    connection = await find(service, call, connection_id, is_instance=is_instance)
    connection_view = views.view(service, connection, await instance_org_id(service))
    return ConnectionFound(details=connection_view.details, idp=connection_view)


async def search(
    service: Service, call: Call, request: ConnectionSearch, *, is_instance: bool
) -> ConnectionsFound:
    """Returns connections of the installation, or of the call's organization, that match the
    search, in the order of their names.

    Raises PermissionDenied, NotFound, InvalidArgument (the cursor).
    """
    owner = await owner_of(service, call, is_instance=is_instance)
    owner_types = [each.owner_type_query for each in request.queries if each.owner_type_query]
    filters = [*_filters(request), Filter(path="org_id", value=owner)]
    if any((each.owner_type == SYSTEM) != (owner is None) for each in owner_types):
        filters.append(Filter(path="id", how="in", value=[]))
    page = await management_search.find(
        service, CONNECTIONS, request.query, filters, order="name_key"
    )
    instance_id = await instance_org_id(service)
    return ConnectionsFound(
        details=page.details,
        result=[views.view(service, each, instance_id) for each in page.records],
        next_cursor=page.next_cursor,
    )


def _filters(request: ConnectionSearch) -> Iterator[Filter]:
    for each in request.queries:
        if each.idp_id_query is not None:
            yield Filter(path="id", how="in", value=[each.idp_id_query.id])
        if each.idp_name_query is not None:
            name = each.idp_name_query
            yield name.of("name", name.name, key="name_key")


async def instance_org_id(service: Service) -> str:
    """Returns the id of the organization that owns the installation's records."""
    instance = await service.store.get(INSTANCES, INSTANCE_ID)
    return instance.org_id if instance else ""
