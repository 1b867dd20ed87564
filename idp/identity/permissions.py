"""Who may do what: roles as sets of permissions. What is not said here is denied.

A role of the instance counts everywhere, a role of an organization in that organization alone.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final, Literal, get_args

from msgspec import Struct

from idp.records import MEMBERSHIPS, Membership
from idp.service import Service

Permission = Literal[
    "iam.read",
    "iam.write",
    "iam.member.write",
    "org.read",
    "org.write",
    "org.member.write",
    "user.read",
    "user.write",
    "project.read",
    "project.write",
    "project.app.read",
    "project.app.write",
]

ALL: Final[frozenset[Permission]] = frozenset(get_args(Permission))
_INSTANCE: Final[frozenset[Permission]] = frozenset({"iam.read", "iam.write", "iam.member.write"})
_ORGANIZATION: Final = ALL - _INSTANCE
_USERS: Final[frozenset[Permission]] = frozenset({"org.read", "user.read", "user.write"})
_PROJECTS: Final[frozenset[Permission]] = frozenset(
    {"project.read", "project.write", "project.app.read", "project.app.write"}
)
_VIEWS: Final[frozenset[Permission]] = frozenset(
    {"org.read", "user.read", "project.read", "project.app.read"}
)

INSTANCE_ROLES: Final[dict[str, frozenset[Permission]]] = {
    "IAM_OWNER": ALL,
    "IAM_OWNER_VIEWER": _VIEWS | {"iam.read"},
    "IAM_ORG_MANAGER": _ORGANIZATION,
    "IAM_USER_MANAGER": _USERS,
}
ORGANIZATION_ROLES: Final[dict[str, frozenset[Permission]]] = {
    "ORG_OWNER": _ORGANIZATION,
    "ORG_OWNER_VIEWER": _VIEWS,
    "ORG_USER_MANAGER": _USERS,
    "ORG_PROJECT_CREATOR": _PROJECTS,
}


class Rights(Struct, frozen=True):
    """What one user may do: everywhere, and in each organization by its id."""

    everywhere: frozenset[Permission]
    by_organization: dict[str, frozenset[Permission]]

    def allow(self, permission: Permission, org_id: str) -> bool:
        """Whether `permission` is held in that organization."""
        return permission in self.everywhere | self.by_organization.get(org_id, frozenset())

    def cover(self, others: Rights) -> bool:
        """Whether whoever has these rights could do all that `others` may."""
        return others.everywhere <= self.everywhere and all(
            held <= self.everywhere | self.by_organization.get(org_id, frozenset())
            for org_id, held in others.by_organization.items()
        )

    def allow_somewhere(self, permission: Permission) -> bool:
        """Whether `permission` is held in any organization."""
        return any(
            permission in held for held in (self.everywhere, *self.by_organization.values())
        )


async def of_user(service: Service, user_id: str) -> Rights:
    """What the user's memberships add up to."""
    everywhere: frozenset[Permission] = frozenset()
    by_organization: dict[str, frozenset[Permission]] = {}
    async for one in _memberships(service, user_id):
        if one.org_id is None:
            everywhere |= _sum(one.roles, INSTANCE_ROLES)
        else:
            held = by_organization.get(one.org_id, frozenset())
            by_organization[one.org_id] = held | _sum(one.roles, ORGANIZATION_ROLES)
    return Rights(everywhere=everywhere, by_organization=by_organization)


def _sum(roles: list[str], table: dict[str, frozenset[Permission]]) -> frozenset[Permission]:
    return frozenset().union(*(table.get(role, frozenset()) for role in roles))


async def _memberships(service: Service, user_id: str) -> AsyncIterator[Membership]:
    after = None
    while True:
        page = await service.store.find(MEMBERSHIPS, {"user_id": user_id}, after=after)
        for one in page.records:
            yield one
        if page.after is None:
            return
        after = page.after
