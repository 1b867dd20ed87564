"""Searches of role assignments, by user and by project."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar

from msgspec import structs

from idp.foundation.errors import FieldProblem
from idp.management import search as management_search
from idp.management.call import Call
from idp.management.projects import role_assignments
from idp.management.projects.role_assignments import AssignmentView
from idp.management.search import MAX_FILTERS, Search, SearchDetails
from idp.records import ROLE_ASSIGNMENTS
from idp.schema.answers import Answer
from idp.schema.field_rules import Items, Name
from idp.schema.reading import Request
from idp.search.query_planner import Filter
from idp.service import Service


class AssignmentUserIdQuery(Request, frozen=True, kw_only=True):
    user_id: Name


class ProjectIdQuery(Request, frozen=True, kw_only=True):
    project_id: Name


class AssignmentQuery(Request, frozen=True, kw_only=True):
    """A filter: exactly one member must be sent."""

    one_of: ClassVar[tuple[tuple[str, ...], ...]] = (("user_id_query", "project_id_query"),)

    user_id_query: AssignmentUserIdQuery | None = None
    project_id_query: ProjectIdQuery | None = None

    def check(self) -> Iterator[FieldProblem]:
        """Yields a problem if the query holds no filter."""
        if self.user_id_query is None and self.project_id_query is None:
            yield FieldProblem("field.required", "", "must contain one filter")

    def filters(self) -> Iterator[Filter]:
        """Yields the conditions on role assignments that the query states."""
        for query in (self.user_id_query, self.project_id_query):
            for path, value in structs.asdict(query).items() if query else ():
                yield Filter(path=path, value=value)


class AssignmentSearch(Search, frozen=True, kw_only=True):
    """A search for the records that match all filters."""

    queries: Annotated[list[AssignmentQuery], Items(MAX_FILTERS)] = []


class AssignmentsFound(Answer, frozen=True, kw_only=True):
    """A page of results. `nextCursor` is present if there may be more."""

    details: SearchDetails
    result: list[AssignmentView] = []
    next_cursor: str = ""


async def search(service: Service, call: Call, request: AssignmentSearch) -> AssignmentsFound:
    """Returns role assignments that match the query, of all organizations that the caller may
    read.

    Raises InvalidArgument (the cursor).
    """
    filters = [condition for each in request.queries for condition in each.filters()]
    visible_org_ids = management_search.reachable_organizations(call)
    if filters and visible_org_ids is not None:
        # One user, or one project, has few assignments: one read that filters them by organization
        # is cheaper than a read for each organization.
        filters.append(Filter(path="org_id", how="in", value=list(visible_org_ids)))
        visible_org_ids = None
    page = await management_search.find(
        service, ROLE_ASSIGNMENTS, request.query, filters, organizations=visible_org_ids
    )
    return AssignmentsFound(
        details=page.details,
        result=[role_assignments.view(assignment) for assignment in page.records],
        next_cursor=page.next_cursor,
    )
