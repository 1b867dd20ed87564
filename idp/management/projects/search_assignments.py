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
    """One filter."""

    one_of: ClassVar[tuple[tuple[str, ...], ...]] = (("user_id_query", "project_id_query"),)

    user_id_query: AssignmentUserIdQuery | None = None
    project_id_query: ProjectIdQuery | None = None

    def check(self) -> Iterator[FieldProblem]:
        """Yields a problem if the query holds no filter."""
        if self.user_id_query is None and self.project_id_query is None:
            yield FieldProblem("field.required", "", "must hold one filter")

    def filters(self) -> Iterator[Filter]:
        """Yields the conditions on role assignments that the query states."""
        for query in (self.user_id_query, self.project_id_query):
            for path, value in structs.asdict(query).items() if query else ():
                yield Filter(path=path, value=value)


class AssignmentSearch(Search, frozen=True, kw_only=True):
    """Every filter counts."""

    queries: Annotated[list[AssignmentQuery], Items(MAX_FILTERS)] = []


class AssignmentsFound(Answer, frozen=True, kw_only=True):
    """`nextCursor` is there as long as there may be more."""

    details: SearchDetails
    result: list[AssignmentView] = []
    next_cursor: str = ""


async def search(service: Service, call: Call, request: AssignmentSearch) -> AssignmentsFound:
    """Returns role assignments that match the query, of all organizations that the caller may
    read.

    Raises InvalidArgument (the cursor).
    """
    filters = [one for each in request.queries for one in each.filters()]
    reached = management_search.reachable_organizations(call)
    if filters and reached is not None:
        # One user, or one project, has few assignments: one read that filters them by organization
        # is cheaper than a read for each organization.
        filters.append(Filter(path="org_id", how="in", value=list(reached)))
        reached = None
    page = await management_search.find(
        service, ROLE_ASSIGNMENTS, request.query, filters, organizations=reached
    )
    return AssignmentsFound(
        details=page.details,
        result=[role_assignments.view(one) for one in page.records],
        next_cursor=page.next_cursor,
    )
