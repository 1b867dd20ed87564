"""Groups of an organization's users, their members, and the roles that they hold."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from idp.foundation import opaque_tokens
from storage import Collection, Record


class Group(Record):
    """A named set of users of one organization.

    `name_key` is casefold(NFKC(name)), and `owner_name_key` the digest of the organization and
    `name_key`: a name exists once in an organization. `external_id` is the id at the system that
    the group came from. `generation` is random: members and grants of an earlier group with the
    same id have another one. `member_count` changes in the units that add and remove members.
    """

    org_id: str
    name: str
    name_key: str
    owner_name_key: str
    generation: str
    created_at: datetime
    changed_at: datetime
    external_id: str | None = None
    member_count: int = 0
    sequence: int = 1


class GroupMember(Record):
    """The membership of a user in a group; its id is the digest of both ids.

    `sources` are the parties that state the membership: `manual` (the management API), `scim:`
    with the id of a directory, or `idp:` with the id of a connection. It ends with its last
    source. It is valid while `generation` is that of the group. `stamp` is random.
    """

    group_id: str
    generation: str
    user_id: str
    org_id: str
    sources: list[str]
    stamp: str
    created_at: datetime
    changed_at: datetime
    sequence: int = 1


class GroupGrant(Record):
    """The roles of a group in a project; its id is the digest of both ids.

    `org_id` is the group's organization: it owns the project, or the project is granted to it;
    `granted_by` is the generation of that project grant then. It is valid while `generation` is
    that of the group. `stamp` is random.
    """

    group_id: str
    generation: str
    project_id: str
    org_id: str
    role_keys: list[str]
    stamp: str
    created_at: datetime
    changed_at: datetime
    granted_by: str | None = None
    sequence: int = 1


GROUPS: Final = Collection(
    "groups",
    Group,
    unique=("owner_name_key",),
    lists=(("org_id", "name_key"), ("external_id",)),
)
GROUP_MEMBERS: Final = Collection(
    "group_members", GroupMember, lists=(("generation", "user_id"), ("user_id",))
)
GROUP_GRANTS: Final = Collection(
    "group_grants", GroupGrant, lists=(("generation",), ("project_id",), ("granted_by",))
)
COLLECTIONS: Final = (GROUPS, GROUP_MEMBERS, GROUP_GRANTS)


def owner_name_key(org_id: str, name_key: str) -> str:
    """Returns `Group.owner_name_key` for a name in an organization."""
    return opaque_tokens.digest(f"{org_id}\n{name_key}")


def member_id(group_id: str, user_id: str) -> str:
    """Returns the id of the one record of a user's membership in a group."""
    return opaque_tokens.digest(f"{group_id}\n{user_id}")


def grant_id(group_id: str, project_id: str) -> str:
    """Returns the id of the one record of a group's roles in a project."""
    return opaque_tokens.digest(f"{group_id}\n{project_id}")
