"""Searches of groups, by their names, by their external ids and by their members."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar

from msgspec import structs

from idp.foundation.errors import FieldProblem
from idp.identity.users import groups
from idp.management import search as management_search
from idp.management.call import Call
from idp.management.groups import groups as group_calls
from idp.management.groups.groups import GroupView
from idp.management.search import MAX_FILTERS, Search, SearchDetails, TextQuery
from idp.records.groups import GROUPS
from idp.schema.answers import Answer
from idp.schema.field_rules import Items, Name
from idp.schema.reading import Request
from idp.search.query_planner import Filter
from idp.service import Service


class GroupNameQuery(TextQuery, frozen=True, kw_only=True):
    name: Name


class GroupExternalIdQuery(Request, frozen=True, kw_only=True):
    external_id: Name


class GroupUserIdQuery(Request, frozen=True, kw_only=True):
    user_id: Name


class GroupQuery(Request, frozen=True, kw_only=True):
    """A filter: exactly one member must be sent."""

    one_of: ClassVar[tuple[tuple[str, ...], ...]] = (
        ("name_query", "external_id_query", "user_id_query"),
    )

    name_query: GroupNameQuery | None = None
    external_id_query: GroupExternalIdQuery | None = None
    user_id_query: GroupUserIdQuery | None = None

    def check(self) -> Iterator[FieldProblem]:
        if all(value is None for value in structs.astuple(self)):
            yield FieldProblem("field.required", "", "must contain one filter")


class GroupSearch(Search, frozen=True, kw_only=True):
    """A search for the records that match all filters."""

    queries: Annotated[list[GroupQuery], Items(MAX_FILTERS)] = []


class GroupsFound(Answer, frozen=True, kw_only=True):
    """A page of results. `nextCursor` is present if there may be more."""

    details: SearchDetails
    result: list[GroupView] = []
    next_cursor: str = ""


async def search(service: Service, call: Call, request: GroupSearch) -> GroupsFound:
    """Returns groups that match the search, of all organizations that the caller may read.

    Raises InvalidArgument (the cursor).
    """
    filters = [await _filter(service, each) for each in request.queries]
    page = await management_search.find(
        service,
        GROUPS,
        request.query,
        filters,
        organizations=management_search.reachable_organizations(call),
    )
    return GroupsFound(
        details=page.details,
        result=[group_calls.view(group) for group in page.records],
        next_cursor=page.next_cursor,
    )


async def _filter(service: Service, query: GroupQuery) -> Filter:
    if query.name_query is not None:
        return query.name_query.of("name", query.name_query.name, key="name_key")
    if query.external_id_query is not None:
        return Filter(path="external_id", value=query.external_id_query.external_id)
    assert query.user_id_query is not None  # noqa: S101 - `check` has refused the others
    user_groups = await groups.of_user(service, query.user_id_query.user_id)
    return Filter(path="id", how="in", value=[group.id for group in user_groups])
