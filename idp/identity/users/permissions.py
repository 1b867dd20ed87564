"""Authorization of administrators: roles as sets of permissions. All else is denied.

A role in the installation applies everywhere, a role in an organization in that organization
alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final, Literal, get_args

from msgspec import Struct

from idp.records import MEMBERSHIPS, Membership, User
from idp.search import paging
from idp.service import Service

Permission = Literal[
    "iam.read",
    "iam.write",
    "iam.member.write",
    "org.read",
    "org.write",
    "org.create",
    "org.delete",
    "org.member.write",
    "policy.read",
    "policy.write",
    "idp.read",
    "idp.write",
    "iam.idp.read",
    "iam.idp.write",
    "user.read",
    "user.write",
    "user.import",
    "user.grant.read",
    "user.grant.write",
    "group.read",
    "group.write",
    "project.read",
    "project.write",
    "project.app.read",
    "project.app.write",
    "events.read",
    "impersonation",
    "admin.impersonation",
]

ALL: Final[frozenset[Permission]] = frozenset(get_args(Permission))
_INSTANCE: Final[frozenset[Permission]] = frozenset(
    {"iam.read", "iam.write", "iam.member.write", "iam.idp.read", "iam.idp.write"}
)
_INSTALLATION_WIDE: Final[frozenset[Permission]] = frozenset({"org.create"})
_END_USERS: Final[frozenset[Permission]] = frozenset({"impersonation"})
_IMPERSONATION: Final[frozenset[Permission]] = frozenset({"impersonation", "admin.impersonation"})
_MANAGING: Final = ALL - _IMPERSONATION  # impersonation takes a role of its own
_ORGANIZATION: Final = _MANAGING - _INSTANCE - _INSTALLATION_WIDE
_USERS: Final[frozenset[Permission]] = frozenset(
    {
        "org.read",
        "user.read",
        "user.write",
        "user.grant.read",
        "user.grant.write",
        "group.read",
        "group.write",
    }
)
_PROJECTS: Final[frozenset[Permission]] = frozenset(
    {"project.read", "project.write", "project.app.read", "project.app.write"}
)
_SETTINGS: Final[frozenset[Permission]] = frozenset(
    {"org.read", "org.write", "policy.read", "policy.write", "idp.read", "idp.write"}
)
_LOGIN: Final[frozenset[Permission]] = frozenset({"org.read", "policy.read", "user.read"})
_VIEWS: Final[frozenset[Permission]] = frozenset(
    {
        "org.read",
        "policy.read",
        "idp.read",
        "user.read",
        "user.grant.read",
        "group.read",
        "project.read",
        "project.app.read",
        "events.read",
    }
)

INSTANCE_ROLES: Final[dict[str, frozenset[Permission]]] = {
    "IAM_OWNER": _MANAGING,
    "IAM_OWNER_VIEWER": _VIEWS | {"iam.read", "iam.idp.read"},
    "IAM_ORG_MANAGER": _ORGANIZATION | _INSTALLATION_WIDE,
    "IAM_USER_MANAGER": _USERS,
    "IAM_LOGIN_CLIENT": _LOGIN,
    "IAM_ADMIN_IMPERSONATOR": _IMPERSONATION,
    "IAM_END_USER_IMPERSONATOR": _END_USERS,
}
ORGANIZATION_ROLES: Final[dict[str, frozenset[Permission]]] = {
    "ORG_OWNER": _ORGANIZATION,
    "ORG_OWNER_VIEWER": _VIEWS,
    "ORG_SETTINGS_MANAGER": _SETTINGS,
    "ORG_USER_MANAGER": _USERS,
    "ORG_PROJECT_CREATOR": _PROJECTS,
    "ORG_ADMIN_IMPERSONATOR": _IMPERSONATION,
    "ORG_END_USER_IMPERSONATOR": _END_USERS,
}


class Rights(Struct, frozen=True):
    """The permissions of one user: those in the whole installation, and those in single
    organizations, by the organization's id."""

    everywhere: frozenset[Permission]
    by_organization: dict[str, frozenset[Permission]]

    def allow(self, permission: Permission, org_id: str) -> bool:
        """Returns whether `permission` is held in that organization."""
        return permission in self._in(org_id)

    def cover(self, rights: Rights) -> bool:
        """Returns whether a user with these rights can do everything that `rights` allow.

        A user who may appoint members can appoint themselves as an impersonator, so that
        permission covers impersonation.
        """
        everywhere, organizations = rights.everywhere, rights.by_organization
        return everywhere <= _with_appointable(self.everywhere, "iam.member.write") and all(
            permissions <= _with_appointable(self._in(org_id), "org.member.write")
            for org_id, permissions in organizations.items()
        )

    def _in(self, org_id: str) -> frozenset[Permission]:
        return self.everywhere | self.by_organization.get(org_id, frozenset())

    def allow_somewhere(self, permission: Permission) -> bool:
        """Returns whether `permission` is held in any organization."""
        return any(
            permission in permissions
            for permissions in (self.everywhere, *self.by_organization.values())
        )


async def of_user(service: Service, user_id: str) -> Rights:
    """Returns the rights of a user: the union of those of all the user's memberships."""
    memberships = paging.each(service, MEMBERSHIPS, {"user_id": user_id})
    return of_memberships([each async for each in memberships])


def of_memberships(memberships: Iterable[Membership]) -> Rights:
    """Returns the union of the rights of these memberships, which belong to one user."""
    everywhere: frozenset[Permission] = frozenset()
    by_organization: dict[str, frozenset[Permission]] = {}
    for membership in memberships:
        if membership.org_id is None:
            everywhere |= _union(membership.roles, INSTANCE_ROLES)
        else:
            permissions = by_organization.get(membership.org_id, frozenset())
            by_organization[membership.org_id] = permissions | _union(
                membership.roles, ORGANIZATION_ROLES
            )
    return Rights(everywhere=everywhere, by_organization=by_organization)


def of_roles(org_id: str | None, roles: list[str]) -> Rights:
    """Returns the rights that these roles give in the organization, or everywhere if `org_id` is
    None."""
    if org_id is None:
        return Rights(everywhere=_union(roles, INSTANCE_ROLES), by_organization={})
    by_organization = {org_id: _union(roles, ORGANIZATION_ROLES)}
    return Rights(everywhere=frozenset(), by_organization=by_organization)


async def may_impersonate(service: Service, actor: User, subject: User) -> bool:
    """Returns whether the roles of `actor` allow tokens in the name of `subject`."""
    rights = await of_user(service, actor.id)
    return allow_impersonation(rights, subject, await managed_by(service, subject))


async def managed_by(service: Service, user: User) -> Collection[str | None]:
    """Returns the ids of organizations in which the user has a role, at most two of them; None
    among them is the installation.

    Two are enough for `allow_impersonation`: a user has one membership in each.
    """
    page = await service.store.find(MEMBERSHIPS, {"user_id": user.id}, limit=2)
    return {each.org_id for each in page.records}


def allow_impersonation(rights: Rights, subject: User, managed: Collection[str | None]) -> bool:
    """Returns whether an actor with these rights may act for a subject who manages `managed` (from
    `managed_by`).

    If the subject manages nothing, any impersonator's role in the installation or the subject's
    organization is enough. For a manager it takes the role for administrators: in the
    installation, or in the subject's organization if that is all the subject manages. So a role in
    one organization never reaches beyond it.
    """
    if not managed:
        return rights.allow("impersonation", subject.org_id)
    if set(managed) == {subject.org_id}:
        return rights.allow("admin.impersonation", subject.org_id)
    return "admin.impersonation" in rights.everywhere


def _with_appointable(
    permissions: frozenset[Permission], appointing: Permission
) -> frozenset[Permission]:
    return permissions | _IMPERSONATION if appointing in permissions else permissions


def _union(roles: list[str], table: dict[str, frozenset[Permission]]) -> frozenset[Permission]:
    return frozenset().union(*(table.get(role, frozenset()) for role in roles))
