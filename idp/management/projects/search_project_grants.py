"""Searches of the organizations that a project is granted to."""

from __future__ import annotations

from typing import Annotated, ClassVar

from idp.management import search as management_search
from idp.management.call import Call
from idp.management.projects import project_grants, projects
from idp.management.projects.project_grants import ProjectGrantView
from idp.management.search import MAX_FILTERS, Search, SearchDetails
from idp.records import ORGANIZATIONS, PROJECT_GRANTS
from idp.schema.answers import Answer
from idp.schema.field_rules import Items, Name
from idp.schema.reading import Request
from idp.search.query_planner import Filter
from idp.service import Service


class GrantedOrgQuery(Request, frozen=True, kw_only=True):
    granted_org_id: Name


class ProjectGrantQuery(Request, frozen=True, kw_only=True):
    """A filter: exactly one member must be sent."""

    one_of: ClassVar[tuple[tuple[str, ...], ...]] = (("granted_org_id_query",),)

    granted_org_id_query: GrantedOrgQuery


class ProjectGrantSearch(Search, frozen=True, kw_only=True):
    """A search for the records that match all filters."""

    queries: Annotated[list[ProjectGrantQuery], Items(MAX_FILTERS)] = []


class ProjectGrantsFound(Answer, frozen=True, kw_only=True):
    """A page of results. `nextCursor` is present if there may be more."""

    details: SearchDetails
    result: list[ProjectGrantView] = []
    next_cursor: str = ""


async def search(
    service: Service, call: Call, project_id: str, request: ProjectGrantSearch
) -> ProjectGrantsFound:
    """Returns the project grants of a project that match the query.

    Raises NotFound, InvalidArgument (the cursor).
    """
    project = await projects.find(service, call, project_id)
    org_ids = [each.granted_org_id_query.granted_org_id for each in request.queries]
    filters = [
        Filter(path="project_id", value=project.id),
        *(Filter(path="granted_org_id", value=org_id) for org_id in org_ids),
    ]
    page = await management_search.find(service, PROJECT_GRANTS, request.query, filters)
    keys = [(ORGANIZATIONS, grant.granted_org_id) for grant in page.records]
    organizations = await service.store.get_many(keys) if keys else []
    return ProjectGrantsFound(
        details=page.details,
        result=[
            project_grants.view(grant, project, organization)
            for grant, organization in zip(page.records, organizations, strict=True)
        ],
        next_cursor=page.next_cursor,
    )
