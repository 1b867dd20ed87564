"""Calls that list, add and remove the domains of an organization."""

from __future__ import annotations

from typing import Annotated, Final

from idp import changes
from idp.changes import Change
from idp.foundation import domain_names
from idp.foundation.errors import (
    AlreadyExists,
    FailedPrecondition,
    FieldProblem,
    InvalidArgument,
    Taken,
)
from idp.identity.users import lost_domains, org_domains, organizations
from idp.management import call as management_call
from idp.management import search as management_search
from idp.management.call import Call
from idp.management.organizations import read as organization_read
from idp.management.search import Search, SearchDetails, TextQuery
from idp.records import DOMAINS, ORGANIZATIONS, Organization, OrganizationDomain, new_domain
from idp.schema import answers
from idp.schema.answers import Answer, Changed, Details
from idp.schema.field_rules import Domain, Name
from idp.schema.reading import Request
from idp.service import Service
from storage import Update

MAX_DOMAINS: Final = 100  # of one organization

_VALIDATION_TYPES: Final = {
    "http": "DOMAIN_VALIDATION_TYPE_HTTP",
    "dns": "DOMAIN_VALIDATION_TYPE_DNS",
}


class NewDomain(Request, frozen=True, kw_only=True):
    domain: Annotated[str, Domain(min=1)]


class DomainNameQuery(TextQuery, frozen=True, kw_only=True):
    name: Name


class DomainQuery(Request, frozen=True, kw_only=True):
    domain_name_query: DomainNameQuery | None = None


class DomainSearch(Search, frozen=True, kw_only=True):
    queries: list[DomainQuery] = []


class DomainAnswer(Answer, frozen=True, kw_only=True):
    """A domain of an organization, which it has verified or named. `validation_type` is the method
    by which it was verified, or is to be verified."""

    org_id: str
    details: Details
    domain_name: str
    is_verified: bool = False
    is_primary: bool = False
    validation_type: str = ""


class FoundDomains(Answer, frozen=True, kw_only=True):
    details: SearchDetails
    result: list[DomainAnswer] = []
    next_cursor: str = ""


async def search(service: Service, call: Call, request: DomainSearch) -> FoundDomains:
    """Returns domains of the call's organization that match the query, in alphabetical order.

    Raises PermissionDenied, NotFound, InvalidArgument.
    """
    organization = await management_call.organization(service, call)
    names = [each.domain_name_query for each in request.queries if each.domain_name_query]
    page = await management_search.find(
        service,
        DOMAINS,
        request.query,
        [organization_read.domain_filter("domain", each.method, each.name) for each in names],
        organizations=[organization.id],
        order="domain",
    )
    return FoundDomains(
        details=page.details,
        result=[_answer(organization, each) for each in page.records],
        next_cursor=page.next_cursor,
    )


async def add(service: Service, call: Call, request: NewDomain) -> Change[Changed]:
    """Adds a domain to the call's organization. The domain has no effect until it is verified.

    Raises PermissionDenied, NotFound, InvalidArgument, AlreadyExists (the organization has it),
    Taken (another organization verified it), FailedPrecondition (the organization has a hundred
    domains).
    """
    _refuse_generated(service, request.domain)

    organization = await management_call.organization(service, call)
    await _refuse_taken(service, organization, request.domain)
    domain = new_domain(organization.id, request.domain, service.clock.now())
    payload = {"domain": domain.domain}
    return Change(
        Changed(details=answers.details(domain, organization.id)),
        [
            organizations.state_unchanged(organization),
            *changes.created(service, call, DOMAINS, domain, "domain.created", payload),
        ],
        if_taken=AlreadyExists(
            "the organization already has the domain", error_code="domain.exists", field="domain"
        ),
    )


async def _refuse_taken(service: Service, organization: Organization, domain: str) -> None:
    if await org_domains.owner(service, domain) not in (None, organization.id):
        raise Taken([organizations.domain_taken("domain")])
    if await service.store.count(DOMAINS, {"org_id": organization.id}) >= MAX_DOMAINS:
        raise FailedPrecondition(
            f"there are already {MAX_DOMAINS} domains", error_code="domain.too_many"
        )


def _refuse_generated(service: Service, domain: str) -> None:
    generated_suffix = organizations.installation_domain(service)
    if domain == generated_suffix or domain.endswith(f".{generated_suffix}"):
        message = f"is under {generated_suffix}, where domains are generated"
        raise InvalidArgument([FieldProblem("domain.reserved", "domain", message)])


async def set_primary(service: Service, call: Call, domain: str) -> Change[Changed]:
    """Makes a domain the one that login names of the call's organization end with.

    Raises PermissionDenied, NotFound, FailedPrecondition (it is not verified).
    """
    organization = await management_call.organization(service, call)
    owned_domain = await org_domains.find(service, organization.id, domain)
    if not owned_domain.is_verified:
        raise FailedPrecondition("the domain is not verified", error_code="domain.not_verified")
    values = {"primary_domain": domain_names.key(domain)}
    event = "organization.primary_domain_changed"
    return changes.updated(
        service, call, ORGANIZATIONS, organization, values, event, organization.id
    ).change(
        # Login names must not end with a domain that another call removes at the same time.
        Update(DOMAINS, owned_domain.id, expect={"verified_key": owned_domain.domain})
    )


async def remove(service: Service, call: Call, domain: str) -> Change[Changed]:
    """Removes a domain from the call's organization; other organizations may verify it then.

    Raises PermissionDenied, NotFound, FailedPrecondition (it is the primary one).
    """
    organization = await management_call.organization(service, call)
    owned_domain = await org_domains.find(service, organization.id, domain)
    if owned_domain.domain == organization.primary_domain:
        message = "login names end with the domain: make another domain primary first"
        raise FailedPrecondition(message, error_code="domain.primary")
    # A concurrent call must not make it the primary domain.
    primary = {"primary_domain": organization.primary_domain}
    return changes.removed(service, call, DOMAINS, owned_domain, "domain.deleted").change(
        Update(ORGANIZATIONS, organization.id, expect=primary),
        *lost_domains.deferred_writes(service, owned_domain, call.actor),
    )


def _answer(organization: Organization, record: OrganizationDomain) -> DomainAnswer:
    challenge = record.challenge
    return DomainAnswer(
        org_id=organization.id,
        details=answers.details(record, organization.id),
        domain_name=record.domain,
        is_verified=record.is_verified,
        is_primary=record.domain == organization.primary_domain,
        validation_type=_VALIDATION_TYPES[challenge.kind] if challenge else "",
    )
