"""Calls that create an organization without users, and that rename one."""

from __future__ import annotations

from dataclasses import replace

from idp import changes
from idp.changes import Change
from idp.foundation.errors import Taken
from idp.identity.users import lookup as user_lookup
from idp.identity.users import org_domains, organizations
from idp.management import call as management_call
from idp.management.call import Call
from idp.records import ORGANIZATIONS
from idp.schema import answers
from idp.schema.answers import Answer, Changed, Details
from idp.schema.field_rules import Name
from idp.schema.reading import Request
from idp.service import Service


class NewOrganization(Request, frozen=True, kw_only=True):
    name: Name


class OrganizationRename(Request, frozen=True, kw_only=True):
    name: Name


class OrganizationCreated(Answer, frozen=True, kw_only=True):
    id: str
    details: Details


async def create(
    service: Service, call: Call, request: NewOrganization
) -> Change[OrganizationCreated]:
    """Creates an organization with a generated domain and without users.

    Raises Taken (the name), Busy.
    """

    now = service.clock.now()
    domain = await organizations.free_domain(service, request.name)
    organization = organizations.new(service, request.name, domain, now)
    if await organizations.has_namesake(service, organization):
        raise Taken([organizations.name_taken("name")])
    answer = OrganizationCreated(
        id=organization.id, details=answers.details(organization, organization.id)
    )
    return Change(answer, org_domains.insertion(service, organization, call.actor, now))


async def rename(service: Service, call: Call, request: OrganizationRename) -> Change[Changed]:
    """Gives the call's organization another name; its domains do not change.

    Raises PermissionDenied, NotFound, Taken.
    """
    organization = await management_call.organization(service, call)
    values = {"name": request.name, "name_key": user_lookup.login_key(request.name)}
    renaming = changes.updated(
        service, call, ORGANIZATIONS, organization, values, "organization.renamed", organization.id
    ).change()
    return replace(renaming, if_taken=Taken([organizations.name_taken("name")]))
