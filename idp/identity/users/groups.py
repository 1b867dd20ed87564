"""Groups of users: changes of their members, and the groups that a user is in.

A membership records its sources (`GroupMember.sources`) and ends with the last of them, so that a
sign-in or an administrator does not undo what a directory has set.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, Literal, NamedTuple

from idp.audit import deferred_work, events
from idp.audit.events import AuditEntry
from idp.foundation.errors import FailedPrecondition
from idp.foundation.texts.text_folding import folded
from idp.identity.users import lookup as user_lookup
from idp.records import DeferredWork, User
from idp.records.groups import (
    GROUP_GRANTS,
    GROUP_MEMBERS,
    GROUPS,
    Group,
    GroupMember,
    member_id,
    owner_name_key,
)
from idp.service import Service
from storage import Update, Write

MANUAL: Final = "manual"  # the source of memberships that the management API states
MAX_GROUPS: Final = 10_000  # of an organization
MAX_GROUPS_OF_USER: Final = 1_000
MAX_MEMBERS: Final = 100_000  # of a group
DELETED: Final[Literal["group.deleted"]] = "group.deleted"

_PAGE_SIZE: Final = 100


def new(
    service: Service, org_id: str, name: str, external_id: str | None, group_id: str = ""
) -> Group:
    """Returns a new group, which the caller stores; without `group_id` it gets a random id."""
    now, name_key = service.clock.now(), folded(name)
    return Group(
        id=group_id or service.random.id(),
        org_id=org_id,
        name=name,
        name_key=name_key,
        owner_name_key=owner_name_key(org_id, name_key),
        generation=service.random.id(),
        created_at=now,
        changed_at=now,
        external_id=external_id,
    )


def name_fields(group: Group, name: str) -> dict[str, object]:
    """Returns the fields of a group that a new name changes."""
    name_key = folded(name)
    return {
        "name": name,
        "name_key": name_key,
        "owner_name_key": owner_name_key(group.org_id, name_key),
    }


async def check_room(service: Service, org_id: str) -> None:
    """Raises FailedPrecondition if the organization has as many groups as it can have."""
    if await service.store.count(GROUPS, {"org_id": org_id}, up_to=MAX_GROUPS) >= MAX_GROUPS:
        message = f"the organization already has {MAX_GROUPS} groups"
        raise FailedPrecondition(message, error_code="group.too_many")


async def of_user(service: Service, user_id: str) -> list[Group]:
    """Returns the groups that a user is in, in no particular order."""
    members = await memberships(service, user_id)
    groups = await service.store.get_many([(GROUPS, each.group_id) for each in members])
    return [
        group
        for each, group in zip(members, groups, strict=True)
        if group is not None and is_current(each, group)
    ]


async def memberships(service: Service, user_id: str) -> list[GroupMember]:
    """Returns the memberships of a user, also those in groups that were deleted (`is_current`)."""
    page = await service.store.find(GROUP_MEMBERS, {"user_id": user_id}, limit=MAX_GROUPS_OF_USER)
    return page.records


def is_current(member: GroupMember, group: Group) -> bool:
    """Returns whether a membership is one in this group, and not in an earlier one of its id."""
    return member.generation == group.generation


async def members_of(
    service: Service, group: Group, user_ids: Sequence[str]
) -> dict[str, GroupMember]:
    """Returns those of the users who are members of the group, as a dict by the user's id."""
    keys = [(GROUP_MEMBERS, member_id(group.id, user_id)) for user_id in user_ids]
    members = await service.store.get_many(keys) if keys else []
    return {each.user_id: each for each in members if each is not None and is_current(each, group)}


async def additions(
    service: Service, group: Group, users: Sequence[User], source: str, actor: str
) -> list[Write]:
    """Returns the writes that add users to a group, as stated by `source`, with an event for each
    change; none if all are members by it. The users belong to the group's organization, each is
    named once. The unit fails with Conflict or Stale after a concurrent change.

    Raises FailedPrecondition (a limit is reached).
    """
    keys = [(GROUP_MEMBERS, member_id(group.id, user.id)) for user in users]
    stored = await service.store.get_many(keys) if keys else []
    author = (source, actor)
    membership_changes = [
        membership_change(service, group, user, member, author)
        for user, member in zip(users, stored, strict=True)
    ]
    writes = [write for each in membership_changes for write in each.writes]
    if not writes:
        return []
    joining = [user for user, each in zip(users, membership_changes, strict=True) if each.joins]
    await _check_room_of(service, group, joining)
    return [*writes, exists_guard(group, joined=len(joining))]


def removals(
    service: Service, group: Group, members: Sequence[GroupMember], source: str, actor: str
) -> list[Write]:
    """Returns the writes that remove `source` from memberships of a group; memberships without
    another source end. The unit fails with Stale after a concurrent change."""
    writes, ended_count = list[Write](), 0
    for member in members:
        remaining = [each for each in member.sources if each != source]
        if remaining == member.sources:
            continue
        ended_count += not remaining
        writes += (
            _with_sources(service, member, remaining, actor)
            if remaining
            else _end_writes(service, member, actor)
        )
    return [*writes, exists_guard(group, joined=-ended_count)] if writes else []


class MembershipChange(NamedTuple):
    """The writes by which a user becomes a member as stated by a source, and whether the user
    joins the group by them; no writes if nothing changes."""

    writes: list[Write]
    joins: bool = False


def membership_change(
    service: Service, group: Group, user: User, stored: GroupMember | None, author: tuple[str, str]
) -> MembershipChange:
    """Returns the writes by which a user is a member of a group, which the caller commits with
    `exists_guard`.

    `stored` is the record of the membership, if there is one; one that an earlier group of the
    same id has left is replaced. `author` are the source that states the membership and the user
    whom the event names.
    """
    source, actor = author
    if stored is not None and is_current(stored, group):
        if source in stored.sources:
            return MembershipChange([])
        sources = [*stored.sources, source]
        return MembershipChange(_with_sources(service, stored, sources, actor))
    member = _new_member(service, group, user, source)
    entry = AuditEntry("group_member.created", actor, member.created_at, payload=_payload(member))
    writes = (
        events.insertion(service.random, GROUP_MEMBERS, member, entry)
        if stored is None
        else events.update(service.random, GROUP_MEMBERS, stored, _fields(member), entry)
    )
    return MembershipChange([*writes, user_lookup.exists_guard(user)], joins=True)


def exists_guard(group: Group, joined: int = 0) -> Update:
    """Returns a guard for a unit that stores something of the group: the unit fails with Stale if
    the group was deleted. `joined` is the number of members that the unit adds."""
    return Update(
        GROUPS,
        group.id,
        increment={"member_count": joined} if joined else {},
        expect={"generation": group.generation},
    )


async def departures(service: Service, user: User, actor: str) -> tuple[list[Write], bool]:
    """Returns writes that end memberships of a user who is removed, at most a hundred, and whether
    there are no others; the caller commits them in one unit."""
    page = await service.store.find(GROUP_MEMBERS, {"user_id": user.id}, limit=_PAGE_SIZE)
    keys = [(GROUPS, each.group_id) for each in page.records]
    groups = await service.store.get_many(keys) if keys else []
    writes: list[Write] = []
    for member, group in zip(page.records, groups, strict=True):
        writes += _end_writes(service, member, actor)
        if group is not None and is_current(member, group):
            writes.append(exists_guard(group, joined=-1))
    return writes, page.after is None


def deletion(service: Service, group: Group, actor: str, now: datetime) -> list[Write]:
    """Returns the writes that delete a group, for the caller to commit in one unit with
    `deferred_work.new(…, DELETED, group.generation, …)`."""
    return events.removal(service.random, GROUPS, group, AuditEntry(DELETED, actor, now))


async def purge(service: Service, work: DeferredWork) -> bool:
    """Removes a bounded number of the members and grants that a deleted group has left, and
    returns whether none is left.

    It is a step of deferred work (`idp/audit/deferred_work.py`); `work.owner_id` is the
    `generation` of the group.
    """
    where, actor, delete_some = (
        {"generation": work.owner_id},
        work.actor,
        deferred_work.delete_some,
    )
    if not await delete_some(service, GROUP_GRANTS, where, "group_grant.deleted", actor):
        return False
    return await delete_some(
        service, GROUP_MEMBERS, where, "group_member.deleted", actor, order="user_id"
    )


async def _check_room_of(service: Service, group: Group, joining: Sequence[User]) -> None:
    if group.member_count + len(joining) > MAX_MEMBERS:
        message = f"the group would have more than {MAX_MEMBERS} members"
        raise FailedPrecondition(message, error_code="group.too_many_members")
    numbers = await asyncio.gather(
        *(
            service.store.count(GROUP_MEMBERS, {"user_id": user.id}, up_to=MAX_GROUPS_OF_USER)
            for user in joining
        )
    )
    if any(number >= MAX_GROUPS_OF_USER for number in numbers):
        message = f"a user is already in {MAX_GROUPS_OF_USER} groups"
        raise FailedPrecondition(message, error_code="group.too_many_of_user")


def _new_member(service: Service, group: Group, user: User, source: str) -> GroupMember:
    now = service.clock.now()
    return GroupMember(
        id=member_id(group.id, user.id),
        group_id=group.id,
        generation=group.generation,
        user_id=user.id,
        org_id=group.org_id,
        sources=[source],
        stamp=service.random.token(bits=64),
        created_at=now,
        changed_at=now,
    )


def _fields(member: GroupMember) -> Mapping[str, object]:
    return {
        "generation": member.generation,
        "org_id": member.org_id,
        "sources": member.sources,
        "stamp": member.stamp,
        "created_at": member.created_at,
        "changed_at": member.changed_at,
    }


def _with_sources(
    service: Service, member: GroupMember, sources: list[str], actor: str
) -> list[Write]:
    now = service.clock.now()
    entry = AuditEntry("group_member.changed", actor, now, payload=_payload(member))
    values = {"sources": sources, "changed_at": now}
    return events.update(service.random, GROUP_MEMBERS, member, values, entry)


def _end_writes(service: Service, member: GroupMember, actor: str) -> list[Write]:
    entry = AuditEntry(
        "group_member.deleted", actor, service.clock.now(), payload=_payload(member)
    )
    return events.removal(service.random, GROUP_MEMBERS, member, entry)


def _payload(member: GroupMember) -> dict[str, str]:
    return {"group": member.group_id, "user": member.user_id}
