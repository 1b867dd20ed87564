"""Calls that create an organization without users, and that rename one."""

from __future__ import annotations

from collections.abc import Mapping

from idp.audit import versioned_updates
from idp.foundation.errors import Taken
from idp.identity.users import login_name_reservations, org_domains, organizations
from idp.identity.users import lookup as user_lookup
from idp.management import call as management_call
from idp.management.call import Call
from idp.records import DOMAINS, ORGANIZATIONS, Organization
from idp.schema import answers
from idp.schema.answers import Answer, Changed, Details
from idp.schema.field_rules import Name
from idp.schema.reading import Request
from idp.service import Service
from storage import Conflict
from storage.confirmed_commit import commit_confirmed


class NewOrganization(Request, frozen=True, kw_only=True):
    name: Name


class OrganizationRename(Request, frozen=True, kw_only=True):
    name: Name


class OrganizationCreated(Answer, frozen=True, kw_only=True):
    id: str
    details: Details


async def create(service: Service, call: Call, request: NewOrganization) -> OrganizationCreated:
    """Creates an organization with a generated domain and without users.

    Raises Taken (the name), Busy.
    """

    async def attempt() -> Organization:
        now = service.clock.now()
        domain = await organizations.free_domain(service, request.name)
        organization = organizations.new(service, request.name, domain, now)
        if await organizations.has_namesake(service, organization):
            raise Taken([organizations.name_taken("name")])
        writes = org_domains.insertion(service, organization, call.actor, now)
        await commit_confirmed(service.store, *writes)
        return organization

    organization = await login_name_reservations.repeated(attempt, _CONFLICT_COLLECTIONS)
    return OrganizationCreated(
        id=organization.id, details=answers.details(organization, organization.id)
    )


# A conflict in these collections is one with a concurrent creation: the creation is repeated.
_CONFLICT_COLLECTIONS = frozenset({ORGANIZATIONS.name, DOMAINS.name})


async def rename(service: Service, call: Call, request: OrganizationRename) -> Changed:
    """Gives the call's organization another name; its domains do not change.

    Raises PermissionDenied, NotFound, Taken.
    """

    async def find() -> Organization:
        return await management_call.organization(service, call)

    def decide(_: Organization) -> Mapping[str, object]:
        return {"name": request.name, "name_key": user_lookup.login_key(request.name)}

    event_type = "organization.renamed"
    try:
        renamed = await versioned_updates.changed(
            service, ORGANIZATIONS, find, decide, event_type, call
        )
    except Conflict:
        raise Taken([organizations.name_taken("name")]) from None
    return Changed(details=answers.details(renamed, renamed.id))
