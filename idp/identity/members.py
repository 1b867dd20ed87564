"""Members: who manages an organization or the instance, as the management API makes them."""

from __future__ import annotations

from typing import Annotated

from idp import access, answers
from idp.access import Call
from idp.answers import Answer, Details
from idp.errors import AlreadyExists, NotFound
from idp.fields import Items, Name, OneOf
from idp.identity import memberships
from idp.identity.permissions import INSTANCE_ROLES, ORGANIZATION_ROLES
from idp.records import USERS, User
from idp.requests import Request
from idp.service import Service
from storage import Conflict


class NewOrganizationMember(Request, frozen=True, kw_only=True):
    user_id: Name
    roles: Annotated[list[Annotated[str, OneOf(tuple(ORGANIZATION_ROLES))]], Items(20, min=1)]


class NewInstanceMember(Request, frozen=True, kw_only=True):
    user_id: Name
    roles: Annotated[list[Annotated[str, OneOf(tuple(INSTANCE_ROLES))]], Items(20, min=1)]


class MemberAdded(Answer, frozen=True, kw_only=True):
    details: Details


async def add_to_organization(
    service: Service, call: Call, request: NewOrganizationMember
) -> MemberAdded:
    """Let a user of the call's organization manage it.

    Raises PermissionDenied, NotFound (the organization or the user), AlreadyExists.
    """
    organization = await access.organization(service, call)
    user = await _find(service, request.user_id)
    if not call.reaches(user.org_id):
        raise _no_user()
    return await _add(service, call, user, organization.id, request.roles)


async def add_to_instance(service: Service, call: Call, request: NewInstanceMember) -> MemberAdded:
    """Let a user manage the instance. Raises NotFound, AlreadyExists."""
    user = await _find(service, request.user_id)
    return await _add(service, call, user, None, request.roles)


async def _find(service: Service, user_id: str) -> User:
    user = await service.store.get(USERS, user_id)
    if user is None:
        raise _no_user()
    return user


async def _add(
    service: Service, call: Call, user: User, org_id: str | None, roles: list[str]
) -> MemberAdded:
    now = service.clock.now()
    held = memberships.new(user.id, org_id, list(dict.fromkeys(roles)), now)
    try:
        await service.store.commit(*memberships.insertion(service.random, held, call.actor, now))
    except Conflict:
        raise AlreadyExists("the user is a member already", slug="member.exists") from None
    return MemberAdded(details=answers.details(held, org_id or user.org_id))


def _no_user() -> NotFound:
    return NotFound("there is no such user", slug="user.not_found")
