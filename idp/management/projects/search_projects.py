"""Searches of projects, and of the applications of one, by their names."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated, Final

from idp.management import search as management_search
from idp.management.call import Call
from idp.management.projects import projects, read_app
from idp.management.projects.projects import ProjectView
from idp.management.projects.read_app import AppView
from idp.management.search import MAX_FILTERS, PageQuery, Search, SearchDetails, TextQuery
from idp.records import APPLICATIONS, PROJECTS, Application
from idp.schema.answers import Answer
from idp.schema.field_rules import Items, Name
from idp.schema.reading import Request
from idp.search.query_planner import Filter
from idp.service import Service

# Applications of each project that one command reads together with those of other projects.
_TOGETHER: Final = 10
_MAX_LARGE: Final = 4  # projects with more applications than that, which are searched one by one


class ProjectNameQuery(TextQuery, frozen=True, kw_only=True):
    name: Name


class NameFilter(Request, frozen=True, kw_only=True):
    """A filter: exactly one member must be sent."""

    name_query: ProjectNameQuery


class NameSearch(Search, frozen=True, kw_only=True):
    """A search for the records that match all filters."""

    queries: Annotated[list[NameFilter], Items(MAX_FILTERS)] = []

    @property
    def filters(self) -> list[Filter]:
        """The conditions on the names of records that the search's queries state."""
        names = [each.name_query for each in self.queries]
        return [name.of("name", name.name) for name in names]


class ProjectsFound(Answer, frozen=True, kw_only=True):
    """A page of results. `nextCursor` is present if there may be more."""

    details: SearchDetails
    result: list[ProjectView] = []
    next_cursor: str = ""


class AppsFound(Answer, frozen=True, kw_only=True):
    """A page of results. `nextCursor` is present if there may be more."""

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


async def apps_by_prefix(
    service: Service, project_ids: Sequence[str], prefix: str, limit: int
) -> list[Application]:
    """Returns up to `limit` applications of these projects (at most `storage.MAX_VALUES`) whose
    names begin with `prefix`, regardless of case.

    The caller checks who may read them. One command reads the first applications of every project;
    of projects that have more than `_TOGETHER`, only the first `_MAX_LARGE` are searched
    completely. So the number of commands does not depend on the number of projects.
    """
    if not project_ids:
        return []
    by_name = Filter(path="name", value=prefix, how="starts", is_text=True, folds=True)
    by_project = await service.store.find_each(
        APPLICATIONS, "project_id", project_ids, limit=_TOGETHER + 1
    )
    large = [each for each in project_ids if len(by_project.get(each, ())) > _TOGETHER]
    large = large[:_MAX_LARGE]
    pages = await asyncio.gather(
        *(_apps_in(service, project_id, by_name, limit) for project_id in large)
    )
    by_project.update(zip(large, pages, strict=True))
    apps = [app for project_id in project_ids for app in by_project.get(project_id, ())]
    return [app for app in apps if by_name.passes(app)][:limit]


async def _apps_in(
    service: Service, project_id: str, by_name: Filter, limit: int
) -> list[Application]:
    """Returns up to `limit` applications of a project that pass the filter, in the order of their
    names."""
    of_project = Filter(path="project_id", value=project_id)
    query = PageQuery(limit=limit)
    page = await management_search.find(
        service, APPLICATIONS, query, [of_project, by_name], order="name"
    )
    return page.records
