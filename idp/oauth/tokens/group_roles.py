"""The roles that a user has by way of groups, for claims and for the check of who may use an
application."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from idp.identity.users import grant_ids, groups
from idp.records import ProjectGrant
from idp.records.groups import (
    GROUP_GRANTS,
    GROUP_MEMBERS,
    GROUPS,
    Group,
    GroupGrant,
    GroupMember,
    grant_id,
    member_id,
)
from idp.service import Service
from storage import Key
from storage.following import Records

# A token names at most so many groups that give the user a role, because it has to stay small.
_MAX_GROUNDS: Final = 4
_KEYS_PER_READ: Final = 999
_MAX_GRANTS: Final = 100  # of one group

Ground = tuple[str, str]  # the id of a group, and the stamps of membership and roles


async def granted(
    service: Service, user_id: str, project_ids: Collection[str], *, of_all: bool = False
) -> list[GroupGrant]:
    """Returns the roles that the groups of a user hold in these projects, or in all with `of_all`,
    also those by a project grant that is not active."""
    members = await groups.memberships(service, user_id)
    if not members:
        return []
    if of_all:
        return await _granted_anywhere(service, members)
    keys = [
        (GROUP_GRANTS, grant_id(each.group_id, project_id))
        for each in members
        for project_id in project_ids
    ]
    grants = [grant for grant in await _get_many(service, keys) if grant is not None]
    return await _of_existing_groups(service, members, grants)


async def _granted_anywhere(service: Service, members: Sequence[GroupMember]) -> list[GroupGrant]:
    pages = await asyncio.gather(
        *(
            service.store.find(GROUP_GRANTS, {"generation": each.generation}, limit=_MAX_GRANTS)
            for each in members
        )
    )
    return await _of_existing_groups(
        service, members, [grant for page in pages for grant in page.records]
    )


async def _of_existing_groups(
    service: Service, members: Sequence[GroupMember], grants: Sequence[GroupGrant]
) -> list[GroupGrant]:
    """Returns the grants whose group exists and has the user as a member."""
    ids = list(dict.fromkeys(each.group_id for each in grants))
    group_records = await _get_many(service, [(GROUPS, group_id) for group_id in ids])
    existing = {group.id: group.generation for group in group_records if group is not None}
    group_ids = {
        each.group_id for each in members if existing.get(each.group_id) == each.generation
    }
    return [
        each
        for each in grants
        if each.group_id in group_ids and existing[each.group_id] == each.generation
    ]


async def _get_many(service: Service, keys: Sequence[Key]) -> list[Any]:
    records: list[Any] = []
    for start in range(0, len(keys), _KEYS_PER_READ):
        records += await service.store.get_many(keys[start : start + _KEYS_PER_READ])
    return records


async def read(service: Service, needed: Sequence[Key]) -> Records:
    """Returns the records of `keys`, however many they are."""
    return Records.read(needed, await _get_many(service, needed))


async def group_ids(service: Service, user_id: str) -> list[str]:
    """Returns the ids of the groups that a user is in."""
    return [each.group_id for each in await groups.memberships(service, user_id)]


def keys(user_id: str, project_id: str, group_ids: Iterable[str]) -> list[Key]:
    """Returns the keys of the records from which `grounds` decides: three for each group."""
    needed: list[Key] = []
    for group_id in group_ids:
        needed += [
            (GROUPS, group_id),
            (GROUP_MEMBERS, member_id(group_id, user_id)),
            (GROUP_GRANTS, grant_id(group_id, project_id)),
        ]
    return needed


class GroupRecords(NamedTuple):
    """The records that decide about a role by a group."""

    group: Group | None
    member: GroupMember | None
    grant: GroupGrant | None


def records_of(
    user_id: str, project_id: str, group_ids: Iterable[str], records: Records
) -> list[GroupRecords]:
    """Returns the records of `keys` for each of these groups."""
    return [
        GroupRecords(*(records.of(*key) for key in keys(user_id, project_id, [group_id])))
        for group_id in group_ids
    ]


def grounds(
    records: Sequence[GroupRecords], project_grant: ProjectGrant | None
) -> tuple[Ground, ...]:
    """Returns the groups by which a user has a role in a project, at most four of them.
    `project_grant` is that of the project to the user's organization, if there is one."""
    return tuple(sorted(_grounds(records, project_grant))[:_MAX_GROUNDS])


def _grounds(
    records: Sequence[GroupRecords], project_grant: ProjectGrant | None
) -> Iterator[Ground]:
    for group, member, grant in records:
        if group is None or member is None or grant is None:
            continue
        is_current = member.generation == group.generation == grant.generation
        if is_current and grant_ids.is_in_force(grant, project_grant):
            grant_stamp = project_grant.stamp if project_grant and grant.granted_by else ""
            yield group.id, member.stamp + grant.stamp + grant_stamp
