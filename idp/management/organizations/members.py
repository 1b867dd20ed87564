"""Calls that add, change and remove members: the users who manage an organization or the
installation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from idp import changes
from idp.changes import Change
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
from storage import Write

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
) -> Change[MemberAdded]:
    """Makes a user a member of the call's organization.

    The call must reach the user's own organization, too. Raises PermissionDenied, NotFound (the
    organization or the user), AlreadyExists.
    """
    organization = await management_call.organization(service, call)
    user = await _find(service, request.user_id)
    if not call.reaches(user.org_id):  # its existence is not shown, either
        raise _no_user()
    return await _add(service, call, user, organization.id, request.roles)


async def add_to_instance(
    service: Service, call: Call, request: NewInstanceMember
) -> Change[MemberAdded]:
    """Makes a user a member of the installation.

    Raises PermissionDenied, NotFound, AlreadyExists.
    """
    user = await _find(service, request.user_id)
    return await _add(service, call, user, None, request.roles)


async def change_in_organization(
    service: Service, call: Call, user_id: str, request: OrganizationMemberChange
) -> Change[Changed]:
    """Replaces the roles of a member of the call's organization.

    Raises PermissionDenied, NotFound, FailedPrecondition (it is the last owner).
    """
    organization = await management_call.organization(service, call)
    return await _change(service, call, user_id, organization.id, request.roles)


async def change_in_instance(
    service: Service, call: Call, user_id: str, request: InstanceMemberChange
) -> Change[Changed]:
    """Replaces the roles of a member of the installation.

    Raises PermissionDenied, NotFound, FailedPrecondition (it is the last owner).
    """
    return await _change(service, call, user_id, None, request.roles)


async def remove_from_organization(service: Service, call: Call, user_id: str) -> Change[Changed]:
    """Removes a member of the call's organization.

    Raises PermissionDenied, NotFound, FailedPrecondition (it is the last owner).
    """
    organization = await management_call.organization(service, call)
    return await _remove(service, call, user_id, organization.id)


async def remove_from_instance(service: Service, call: Call, user_id: str) -> Change[Changed]:
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
) -> Change[MemberAdded]:
    _check_roles(call, org_id, roles)
    now = service.clock.now()
    membership = memberships.new(user.id, org_id, list(dict.fromkeys(roles)), now)
    return Change(
        MemberAdded(details=answers.details(membership, org_id or user.org_id)),
        [
            *memberships.insertion(service.random, membership, call.actor, now),
            # A later user with the same id must not get the roles.
            user_lookup.exists_guard(user),
        ],
        if_taken=AlreadyExists(
            "the user is already a member: change the roles by PUT", error_code="member.exists"
        ),
    )


async def _change(
    service: Service, call: Call, user_id: str, org_id: str | None, roles: list[str]
) -> Change[Changed]:
    role_names = list(dict.fromkeys(roles))
    membership = await _find_membership(service, call, user_id, org_id)
    _check_roles(call, org_id, role_names)
    guards = await remaining_owner_guards(service, membership, role_names)
    values, event = {"roles": role_names}, "membership.changed"
    owner = await _resource_owner(service, membership)
    return changes.updated(service, call, MEMBERSHIPS, membership, values, event, owner).change(
        *guards
    )


async def _remove(
    service: Service, call: Call, user_id: str, org_id: str | None
) -> Change[Changed]:
    membership = await _find_membership(service, call, user_id, org_id)
    guards = await remaining_owner_guards(service, membership, [])
    owner = await _resource_owner(service, membership)
    return changes.removed(
        service, call, MEMBERSHIPS, membership, "membership.deleted", owner
    ).change(*guards)


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
