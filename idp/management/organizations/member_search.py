"""Searches of the members of an organization or of the installation, and of a user's
memberships."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from idp.identity.users import memberships
from idp.identity.users.permissions import INSTANCE_ROLES, ORGANIZATION_ROLES
from idp.management import call as management_call
from idp.management import search as management_search
from idp.management.call import Call
from idp.management.search import Search, SearchDetails
from idp.management.users import read as user_read
from idp.records import MEMBERSHIPS, ORGANIZATIONS, USERS, Membership, Organization, User
from idp.schema import answers
from idp.schema.answers import Answer, Details
from idp.schema.field_rules import Name
from idp.schema.reading import Request
from idp.search.query_planner import Filter
from idp.service import Service


class MemberUserIdQuery(Request, frozen=True, kw_only=True):
    user_id: Name


class MemberQuery(Request, frozen=True, kw_only=True):
    user_id_query: MemberUserIdQuery | None = None


class MemberSearch(Search, frozen=True, kw_only=True):
    queries: list[MemberQuery] = []


class MemberAnswer(Answer, frozen=True, kw_only=True):
    """A member, with the names of its user."""

    user_id: str
    details: Details
    roles: list[str]
    preferred_login_name: str
    email: str = ""
    first_name: str = ""
    last_name: str = ""
    display_name: str = ""
    user_type: Literal["TYPE_HUMAN", "TYPE_MACHINE"]


class FoundMembers(Answer, frozen=True, kw_only=True):
    details: SearchDetails
    result: list[MemberAnswer] = []
    next_cursor: str = ""


class OrganizationOf(Request, frozen=True, kw_only=True):
    org_id: Name


class InstanceOf(Request, frozen=True, kw_only=True):
    iam: bool


class MembershipQuery(Request, frozen=True, kw_only=True):
    """A filter by what is managed: exactly one member must be sent."""

    one_of = (("org_query", "iam_query"),)

    org_query: OrganizationOf | None = None
    iam_query: InstanceOf | None = None


class MembershipSearch(Search, frozen=True, kw_only=True):
    queries: list[MembershipQuery] = []


class MembershipAnswer(Answer, frozen=True, kw_only=True):
    """A membership of a user, in the instance (`iam`) or in the organization with this id and
    name.
    """

    user_id: str
    details: Details
    roles: list[str]
    iam: bool = False
    org_id: str = ""
    display_name: str = ""


class FoundMemberships(Answer, frozen=True, kw_only=True):
    details: SearchDetails
    result: list[MembershipAnswer] = []
    next_cursor: str = ""


class MemberRoles(Answer, frozen=True, kw_only=True):
    result: list[str]


async def of_organization(service: Service, call: Call, request: MemberSearch) -> FoundMembers:
    """Returns the members of the call's organization that match the query.

    Raises PermissionDenied, NotFound.
    """
    organization = await management_call.organization(service, call)
    return await _members(service, organization.id, request)


async def of_instance(service: Service, call: Call, request: MemberSearch) -> FoundMembers:
    """Returns the members of the installation that match the query."""
    return await _members(service, None, request)


async def of_user(
    service: Service, call: Call, user_id: str, request: MembershipSearch
) -> FoundMemberships:
    """Returns the memberships of a user in organizations and in the installation, as far as the
    caller may read them.

    Raises NotFound.
    """
    user = await user_read.find(service, call, user_id)
    filters = [Filter(path="user_id", value=user.id)]
    for query in request.queries:
        if query.org_query is not None:
            filters.append(Filter(path="org_id", value=query.org_query.org_id))
        if query.iam_query is not None and query.iam_query.iam:
            filters.append(Filter(path="org_id", value=None))
    org_ids = management_search.reachable_organizations(call)
    if org_ids is not None:
        filters.append(Filter(path="org_id", how="in", value=list(org_ids)))
    page = await management_search.find(service, MEMBERSHIPS, request.query, filters)
    organizations = await _organizations(
        service, [each.org_id for each in page.records if each.org_id]
    )
    return FoundMemberships(
        details=page.details,
        result=[_membership(user, each, organizations) for each in page.records],
        next_cursor=page.next_cursor,
    )


async def roles_of_organizations(service: Service, call: Call) -> MemberRoles:
    """Returns the roles that a member of an organization may have."""
    return MemberRoles(result=list(ORGANIZATION_ROLES))


async def roles_of_instance(service: Service, call: Call) -> MemberRoles:
    """Returns the roles that a member of the installation may have."""
    return MemberRoles(result=list(INSTANCE_ROLES))


async def _members(service: Service, org_id: str | None, request: MemberSearch) -> FoundMembers:
    filters = [Filter(path="org_id", value=org_id)]
    for query in request.queries:
        if query.user_id_query is not None:
            membership_id = memberships.id_of(query.user_id_query.user_id, org_id)
            filters.append(Filter(path="id", how="in", value=[membership_id]))
    page = await management_search.find(service, MEMBERSHIPS, request.query, filters)
    ids = [each.user_id for each in page.records]
    users: list[User | None] = await service.store.get_many([(USERS, user_id) for user_id in ids])
    organizations = await _organizations(service, [user.org_id for user in users if user])
    return FoundMembers(
        details=page.details,
        result=[
            _member(membership, user, organizations[user.org_id])
            for membership, user in zip(page.records, users, strict=True)
            if user is not None and user.org_id in organizations  # else deleted meanwhile
        ],
        next_cursor=page.next_cursor,
    )


async def _organizations(service: Service, ids: Sequence[str]) -> dict[str, Organization]:
    keys = [(ORGANIZATIONS, org_id) for org_id in dict.fromkeys(ids)]
    organizations: list[Organization | None] = await service.store.get_many(keys) if keys else []
    return {each.id: each for each in organizations if each is not None}


def _member(membership: Membership, user: User, organization: Organization) -> MemberAnswer:
    profile = user.profile
    return MemberAnswer(
        user_id=user.id,
        details=answers.details(membership, membership.org_id or user.org_id),
        roles=membership.roles,
        preferred_login_name=f"{user.user_name}@{organization.primary_domain}",
        email=user.email.address if user.email else "",
        first_name=profile.given_name or "",
        last_name=profile.family_name or "",
        display_name=profile.display_name,
        user_type="TYPE_HUMAN" if user.kind == "human" else "TYPE_MACHINE",
    )


def _membership(
    user: User, membership: Membership, organizations: dict[str, Organization]
) -> MembershipAnswer:
    organization = organizations.get(membership.org_id or "")
    return MembershipAnswer(
        user_id=user.id,
        details=answers.details(membership, membership.org_id or user.org_id),
        roles=membership.roles,
        iam=membership.org_id is None,
        org_id=membership.org_id or "",
        display_name=organization.name if organization else "",
    )
