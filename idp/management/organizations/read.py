"""Calls that read and search organizations, and their answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from idp.foundation import domain_names
from idp.foundation.errors import NotFound
from idp.management import call as management_call
from idp.management import search as management_search
from idp.management.call import Call
from idp.management.search import Search, SearchDetails, TextQuery
from idp.records import ORGANIZATIONS, Organization
from idp.schema import answers
from idp.schema.answers import Answer, Details
from idp.schema.field_rules import Name
from idp.schema.reading import Request
from idp.search.query_planner import Filter
from idp.service import Service

State = Literal["active", "inactive"]

STATES: Final[Mapping[str, State]] = {
    "ORG_STATE_ACTIVE": "active",
    "ORG_STATE_INACTIVE": "inactive",
}
_NAMES: Final = {state: name for name, state in STATES.items()}


class OrganizationAnswer(Answer, frozen=True, kw_only=True):
    id: str
    details: Details
    state: str
    name: str
    primary_domain: str


class FoundOrganization(Answer, frozen=True, kw_only=True):
    details: Details
    org: OrganizationAnswer


class OrganizationNameQuery(TextQuery, frozen=True, kw_only=True):
    name: Name


class OrganizationDomainQuery(TextQuery, frozen=True, kw_only=True):
    domain: Name


class OrganizationStateQuery(Request, frozen=True, kw_only=True):
    state: Literal["ORG_STATE_ACTIVE", "ORG_STATE_INACTIVE"]


class IdQuery(Request, frozen=True, kw_only=True):
    id: Name


class OrganizationQuery(Request, frozen=True, kw_only=True):
    """A filter: exactly one member must be sent. `domain_query` compares the primary domain."""

    one_of = (("name_query", "domain_query", "state_query", "id_query"),)

    name_query: OrganizationNameQuery | None = None
    domain_query: OrganizationDomainQuery | None = None
    state_query: OrganizationStateQuery | None = None
    id_query: IdQuery | None = None

    def filters(self) -> list[Filter]:
        """Returns the conditions on organizations that the query states."""
        conditions: list[Filter] = []
        if self.name_query is not None:
            conditions.append(self.name_query.of("name", self.name_query.name, "name_key"))
        if self.domain_query is not None:
            query = self.domain_query
            conditions.append(domain_filter("primary_domain", query.method, query.domain))
        if self.state_query is not None:
            conditions.append(Filter(path="state", value=STATES[self.state_query.state]))
        if self.id_query is not None:
            conditions.append(Filter(path="id", how="in", value=[self.id_query.id]))
        return conditions


class OrganizationSearch(Search, frozen=True, kw_only=True):
    """A search of organizations. They are in the order of their names, or with a filter by domain
    in that of their primary domains.
    """

    queries: list[OrganizationQuery] = []


class FoundOrganizations(Answer, frozen=True, kw_only=True):
    details: SearchDetails
    result: list[OrganizationAnswer] = []
    next_cursor: str = ""


async def find(service: Service, call: Call, org_id: str) -> Organization:
    """Returns the organization with this id if the call may act in it.

    Raises NotFound, also if the call may not.
    """
    organization = await service.store.get(ORGANIZATIONS, org_id) if call.reaches(org_id) else None
    if organization is None:
        raise NotFound("there is no such organization", error_code=management_call.NO_ORGANIZATION)
    return organization


async def show(service: Service, call: Call) -> FoundOrganization:
    """Returns the call's organization. Raises PermissionDenied, NotFound."""
    return _found(await management_call.organization(service, call))


async def show_any(service: Service, call: Call, org_id: str) -> FoundOrganization:
    """Returns the organization with this id, if the call may read it. Raises NotFound."""
    return _found(await find(service, call, org_id))


async def search(service: Service, call: Call, request: OrganizationSearch) -> FoundOrganizations:
    """Returns organizations that the caller may read. Raises InvalidArgument."""
    filters = [each for query in request.queries for each in query.filters()]
    # The index that answers a filter by domain is in the order of domains.
    is_by_domain = any(query.domain_query for query in request.queries)
    page = await management_search.find(
        service,
        ORGANIZATIONS,
        request.query,
        filters,
        organizations=management_search.reachable_organizations(call),
        org_path="id",
        order=None if is_by_domain else "name_key",
    )
    return FoundOrganizations(
        details=page.details,
        result=[_answer(each) for each in page.records],
        next_cursor=page.next_cursor,
    )


def domain_filter(field: str, method: str, text: str) -> Filter:
    """Returns the condition that the domain in the field `field` equals the text, or begins with
    it if the search method `method` is one that compares beginnings.
    Domains are stored in lower case, so every method ignores case. A beginning is compared by its
    whole labels where it is internationalised.
    """
    is_prefix = "STARTS_WITH" in method
    final_dot = "." if is_prefix and text.endswith(".") else ""
    return Filter(
        path=field,
        value=domain_names.key(text) + final_dot,
        how="starts" if is_prefix else "is",
        is_text=True,
        folds=True,
        key=field,
    )


def _found(organization: Organization) -> FoundOrganization:
    answer = _answer(organization)
    return FoundOrganization(details=answer.details, org=answer)


def _answer(organization: Organization) -> OrganizationAnswer:
    return OrganizationAnswer(
        id=organization.id,
        details=answers.details(organization, organization.id),
        state=_NAMES[organization.state],
        name=organization.name,
        primary_domain=organization.primary_domain,
    )
