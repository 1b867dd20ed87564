"""Searches of projects, and of the applications of one, by their names."""

from __future__ import annotations

from typing import Annotated

from idp.management import search as management_search
from idp.management.call import Call
from idp.management.projects import projects, read_app
from idp.management.projects.projects import ProjectView
from idp.management.projects.read_app import AppView
from idp.management.search import MAX_FILTERS, Search, SearchDetails, TextQuery
from idp.records import APPLICATIONS, PROJECTS
from idp.schema.answers import Answer
from idp.schema.field_rules import Items, Name
from idp.schema.reading import Request
from idp.search.query_planner import Filter
from idp.service import Service


class ProjectNameQuery(TextQuery, frozen=True, kw_only=True):
    name: Name


class NameFilter(Request, frozen=True, kw_only=True):
    """One filter."""

    name_query: ProjectNameQuery


class NameSearch(Search, frozen=True, kw_only=True):
    """Every filter counts."""

    queries: Annotated[list[NameFilter], Items(MAX_FILTERS)] = []

    @property
    def filters(self) -> list[Filter]:
        """The conditions on the names of records that the search's queries state."""
        names = [each.name_query for each in self.queries]
        return [one.of("name", one.name) for one in names]


class ProjectsFound(Answer, frozen=True, kw_only=True):
    """`nextCursor` is there as long as there may be more."""

    details: SearchDetails
    result: list[ProjectView] = []
    next_cursor: str = ""


class AppsFound(Answer, frozen=True, kw_only=True):
    """`nextCursor` is there as long as there may be more."""

    details: SearchDetails
    result: list[AppView] = []
    next_cursor: str = ""


async def projects_of(service: Service, call: Call, request: NameSearch) -> ProjectsFound:
    """Returns projects that match the search, of all organizations that the caller may read.

    Raises InvalidArgument.
    """
    page = await management_search.find(
        service,
        PROJECTS,
        request.query,
        request.filters,
        organizations=management_search.reachable_organizations(call),
    )
    return ProjectsFound(
        details=page.details,
        result=[projects.view(project) for project in page.records],
        next_cursor=page.next_cursor,
    )


async def apps_of(service: Service, call: Call, project_id: str, request: NameSearch) -> AppsFound:
    """Returns applications of a project that match the search, in the order of their names.

    Raises NotFound, InvalidArgument.
    """
    project = await projects.find(service, call, project_id)
    of_project = Filter(path="project_id", value=project.id)
    page = await management_search.find(
        service, APPLICATIONS, request.query, [of_project, *request.filters], order="name"
    )
    now = service.clock.now()
    return AppsFound(
        details=page.details,
        result=[read_app.view(client, now) for client in page.records],
        next_cursor=page.next_cursor,
    )
