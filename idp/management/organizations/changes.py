"""Calls that create an organization without users, and that rename one."""

from __future__ import annotations

from collections.abc import Mapping

from idp.audit import versioned_updates
from idp.audit.versioned_updates import Changed
from idp.foundation.errors import Taken
from idp.identity.users import login_name_reservations, org_domains, organizations
from idp.identity.users import lookup as user_lookup
from idp.management import call as management_call
from idp.management.call import Call
from idp.records import DOMAINS, ORGANIZATIONS, Organization
from idp.schema import answers
from idp.schema.answers import Answer, Details
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
        made = organizations.new(service, request.name, domain, now)
        if await organizations.has_namesake(service, made):
            raise Taken([organizations.name_taken("name")])
        writes = org_domains.insertion(service, made, call.actor, now)
        await commit_confirmed(service.store, *writes)
        return made

    made = await login_name_reservations.repeated(attempt, _MEETS_AT)
    return OrganizationCreated(id=made.id, details=answers.details(made, made.id))


# A conflict in these collections is one with a concurrent creation, after which it is tried again.
_MEETS_AT = frozenset({ORGANIZATIONS.name, DOMAINS.name})


async def rename(service: Service, call: Call, request: OrganizationRename) -> Changed:
    """Gives the call's organization another name; its domains do not change.

    Raises PermissionDenied, NotFound, Taken.
    """

    async def find() -> Organization:
        return await management_call.organization(service, call)

    def decide(_: Organization) -> Mapping[str, object]:
        return {"name": request.name, "name_key": user_lookup.login_key(request.name)}

    type = "organization.renamed"
    try:
        renamed = await versioned_updates.changed(service, ORGANIZATIONS, find, decide, type, call)
    except Conflict:
        raise Taken([organizations.name_taken("name")]) from None
    return Changed(details=answers.details(renamed, renamed.id))
