"""Calls that add, change and remove members: the users who manage an organization or the
installation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

from idp.audit import versioned_updates
from idp.foundation.errors import AlreadyExists, FailedPrecondition, NotFound, PermissionDenied
from idp.identity.users import lookup as user_lookup
from idp.identity.users import memberships, permissions
from idp.identity.users.permissions import INSTANCE_ROLES, ORGANIZATION_ROLES
from idp.management import call as management_call
from idp.management.call import Call
from idp.records import MEMBERSHIPS, USERS, Membership, User
from idp.schema import answers
from idp.schema.answers import Answer, Changed, Details
from idp.schema.field_rules import Items, Name, OneOf
from idp.schema.reading import Request
from idp.service import Service
from storage import Conflict, Stale, Write

_OrganizationRoles = Annotated[
    list[Annotated[str, OneOf(tuple(ORGANIZATION_ROLES))]], Items(20, min=1)
]
_InstanceRoles = Annotated[list[Annotated[str, OneOf(tuple(INSTANCE_ROLES))]], Items(20, min=1)]


class NewOrganizationMember(Request, frozen=True, kw_only=True):
    user_id: Name
    roles: _OrganizationRoles


class NewInstanceMember(Request, frozen=True, kw_only=True):
    user_id: Name
    roles: _InstanceRoles


class OrganizationMemberChange(Request, frozen=True, kw_only=True):
    roles: _OrganizationRoles


class InstanceMemberChange(Request, frozen=True, kw_only=True):
    roles: _InstanceRoles


class MemberAdded(Answer, frozen=True, kw_only=True):
    details: Details


async def add_to_organization(
    service: Service, call: Call, request: NewOrganizationMember
) -> MemberAdded:
    """Makes a user a member of the call's organization.

    The call must reach the user's own organization, too. Raises PermissionDenied, NotFound (the
    organization or the user), AlreadyExists.
    """
    organization = await management_call.organization(service, call)
    user = await _find(service, request.user_id)
    if not call.reaches(user.org_id):  # its existence is not shown, either
        raise _no_user()
    return await _add(service, call, user, organization.id, request.roles)


async def add_to_instance(service: Service, call: Call, request: NewInstanceMember) -> MemberAdded:
    """Makes a user a member of the installation.

    Raises PermissionDenied, NotFound, AlreadyExists.
    """
    user = await _find(service, request.user_id)
    return await _add(service, call, user, None, request.roles)


async def change_in_organization(
    service: Service, call: Call, user_id: str, request: OrganizationMemberChange
) -> Changed:
    """Replaces the roles of a member of the call's organization.

    Raises PermissionDenied, NotFound, FailedPrecondition (it is the last owner).
    """
    organization = await management_call.organization(service, call)
    return await _change(service, call, user_id, organization.id, request.roles)


async def change_in_instance(
    service: Service, call: Call, user_id: str, request: InstanceMemberChange
) -> Changed:
    """Replaces the roles of a member of the installation.

    Raises PermissionDenied, NotFound, FailedPrecondition (it is the last owner).
    """
    return await _change(service, call, user_id, None, request.roles)


async def remove_from_organization(service: Service, call: Call, user_id: str) -> Changed:
    """Removes a member of the call's organization.

    Raises PermissionDenied, NotFound, FailedPrecondition (it is the last owner).
    """
    organization = await management_call.organization(service, call)
    return await _remove(service, call, user_id, organization.id)


async def remove_from_instance(service: Service, call: Call, user_id: str) -> Changed:
    """Removes a member of the installation.

    Raises PermissionDenied, NotFound, FailedPrecondition (it is the last owner).
    """
    return await _remove(service, call, user_id, None)


async def _find(service: Service, user_id: str) -> User:
    user = await service.store.get(USERS, user_id)
    if user is None:
        raise _no_user()
    return user


async def _add(
    service: Service, call: Call, user: User, org_id: str | None, roles: list[str]
) -> MemberAdded:
    _check_roles(call, org_id, roles)
    now = service.clock.now()
    membership = memberships.new(user.id, org_id, list(dict.fromkeys(roles)), now)
    try:
        writes = memberships.insertion(service.random, membership, call.actor, now)
        await service.store.commit(*writes, user_lookup.exists_guard(user))
    except Stale:  # deleted meanwhile: a later user with the same id must not get the roles
        raise _no_user() from None
    except Conflict:
        raise AlreadyExists("the user is already a member", error_code="member.exists") from None
    return MemberAdded(details=answers.details(membership, org_id or user.org_id))


async def _change(
    service: Service, call: Call, user_id: str, org_id: str | None, roles: list[str]
) -> Changed:
    role_names, guards = list(dict.fromkeys(roles)), list[Write]()

    async def find() -> Membership:
        membership = await _find_membership(service, call, user_id, org_id)
        _check_roles(call, org_id, role_names)
        guards[:] = await remaining_owner_guards(service, membership, role_names)
        return membership

    def decide(_: Membership) -> Mapping[str, object]:
        return {"roles": role_names}

    event_type = "membership.changed"
    membership = await versioned_updates.changed(
        service, MEMBERSHIPS, find, decide, event_type, call, further_writes=lambda *_: guards
    )
    owner = await _resource_owner(service, membership)
    return Changed(details=answers.details(membership, owner))


async def _remove(service: Service, call: Call, user_id: str, org_id: str | None) -> Changed:
    guards = list[Write]()

    async def find() -> Membership:
        membership = await _find_membership(service, call, user_id, org_id)
        guards[:] = await remaining_owner_guards(service, membership, [])
        return membership

    owner = await _resource_owner(service, await find())
    event_type = "membership.deleted"
    return await versioned_updates.removed(
        service, MEMBERSHIPS, find, event_type, call, owner, further_writes=lambda _: guards
    )


async def _find_membership(
    service: Service, call: Call, user_id: str, org_id: str | None
) -> Membership:
    """Returns the membership of a user, if its roles allow nothing that the caller may not do.

    Raises NotFound, PermissionDenied.
    """
    membership = await memberships.find(service, user_id, org_id)
    if membership is None:
        raise NotFound("there is no such member", error_code="member.not_found")
    _check_roles(call, org_id, membership.roles)
    return membership


async def remaining_owner_guards(
    service: Service, membership: Membership, role_names: Sequence[str]
) -> Sequence[Write]:
    """Returns guards for the unit, committed by the caller, that reduces the member's roles to
    `role_names`: the unit is stored only if another active user remains an owner. Returns no
    guards if the member is no owner or remains one.

    Raises FailedPrecondition if no other active user is an owner.
    """
    role = memberships.owner_of(membership.org_id)
    if role not in membership.roles or role in role_names:
        return ()
    guards = await memberships.another_owner(service, membership.org_id, membership.user_id)
    if not guards:
        raise FailedPrecondition("there is no other active owner", error_code="member.last_owner")
    return guards


def _check_roles(call: Call, org_id: str | None, roles: list[str]) -> None:
    """Checks that the roles allow nothing that the caller may not do. Raises PermissionDenied."""
    if not call.rights.cover(permissions.of_roles(org_id, roles)):
        raise PermissionDenied("the roles have permissions that the caller doesn't have")


async def _resource_owner(service: Service, membership: Membership) -> str:
    return membership.org_id or (await _find(service, membership.user_id)).org_id


def _no_user() -> NotFound:
    return NotFound("there is no such user", error_code="user.not_found")
