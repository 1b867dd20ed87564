"""Calls that add users to groups, remove them, and list them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated

from msgspec import structs

from idp.changes import Change
from idp.foundation.errors import (
    FailedPrecondition,
    FieldProblem,
    InvalidArgument,
    NotFound,
)
from idp.identity.users import groups
from idp.management import search as management_search
from idp.management.call import Call
from idp.management.groups import groups as group_calls
from idp.management.search import Search, SearchDetails
from idp.management.users import manageable
from idp.records import ORGANIZATIONS, USERS, User
from idp.records.groups import GROUP_MEMBERS, Group, GroupMember
from idp.schema import answers
from idp.schema.answers import Answer, Changed, Details
from idp.schema.field_rules import Items, Name
from idp.schema.reading import Request
from idp.search.query_planner import Filter
from idp.service import Service

_MAX_USERS = 100  # in one call, which is one unit


class NewGroupMembers(Request, frozen=True, kw_only=True):
    """Users of the group's organization. All become members, or none."""

    user_ids: Annotated[list[Name], Items(_MAX_USERS, min=1)]


class GroupMemberToRemove(Request, frozen=True, kw_only=True):
    user_id: Name


class GroupMemberSearch(Search, frozen=True, kw_only=True):
    """The requested page of a group's members."""


class GroupMemberView(Answer, frozen=True, kw_only=True):
    """A member of a group, and the sources that state the membership: `manual` (the management
    API), `scim:` with the id of a directory, or `idp:` with the id of a connection.
    """

    user_id: str
    details: Details
    sources: list[str]
    preferred_login_name: str = ""
    display_name: str = ""


class GroupMembersFound(Answer, frozen=True, kw_only=True):
    """A page of results. `nextCursor` is present if there may be more."""

    details: SearchDetails
    result: list[GroupMemberView] = []
    next_cursor: str = ""


async def add(
    service: Service, call: Call, group_id: str, request: NewGroupMembers
) -> Change[Changed]:
    """Adds users to a group, all in one unit. Users who are members already stay members.

    Raises NotFound (the group), InvalidArgument (no such user in the group's organization),
    PermissionDenied (a user has rights that the caller lacks), FailedPrecondition (a limit).
    """

    group = await group_calls.find(service, call, group_id)
    users = await _users(service, call, group, request.user_ids)
    answer = Changed(details=answers.details(group, group.org_id))
    return Change(answer, await groups.additions(service, group, users, groups.MANUAL, call.actor))


async def _users(service: Service, call: Call, group: Group, ids: Sequence[str]) -> Sequence[User]:
    distinct = list(dict.fromkeys(ids))
    users = await service.store.get_many([(USERS, user_id) for user_id in distinct])
    existing_ids = {user.id for user in users if user is not None and user.org_id == group.org_id}
    problems = [
        FieldProblem(
            "user.not_found", f"userIds[{n}]", ("is not a user of the group's organization")
        )
        for n, user_id in enumerate(ids)
        if user_id not in existing_ids
    ]
    if problems:
        raise InvalidArgument(problems)
    return await asyncio.gather(*(manageable.find(service, call, user_id) for user_id in distinct))


async def remove(
    service: Service, call: Call, group_id: str, request: GroupMemberToRemove
) -> Change[Changed]:
    """Removes a user from a group, and returns the last state of the membership.

    A membership that a directory or a connection states as well stays until that ends it. Raises
    NotFound (the group, or the user is no member), PermissionDenied, FailedPrecondition (only a
    directory or a connection states the membership).
    """
    await manageable.find(service, call, request.user_id)
    group = await group_calls.find(service, call, group_id)
    members = await groups.members_of(service, group, [request.user_id])
    member = members.get(request.user_id)
    if member is None:
        message = "the user is not a member of the group"
        raise NotFound(message, error_code="group.member_not_found", field="userId")
    if groups.MANUAL not in member.sources:
        message = f"the membership is stated by {', '.join(member.sources)}, and ends there"
        raise FailedPrecondition(message, error_code="group.member_managed", field="userId")
    last_state = structs.replace(
        member, sequence=member.sequence + 1, changed_at=service.clock.now()
    )
    return Change(
        Changed(details=answers.details(last_state, last_state.org_id)),
        groups.removals(service, group, [member], groups.MANUAL, call.actor),
    )


async def search(
    service: Service, call: Call, group_id: str, request: GroupMemberSearch
) -> GroupMembersFound:
    """Returns a page of the members of a group. Raises NotFound, InvalidArgument (the cursor)."""
    group = await group_calls.find(service, call, group_id)
    page = await management_search.find(
        service,
        GROUP_MEMBERS,
        request.query,
        [Filter(path="generation", value=group.generation)],
        order="user_id",
    )
    organization, *users = await service.store.get_many(
        [(ORGANIZATIONS, group.org_id), *((USERS, each.user_id) for each in page.records)]
    )
    domain = organization.primary_domain if organization else ""
    return GroupMembersFound(
        details=page.details,
        result=[
            _view(member, user, domain)
            for member, user in zip(page.records, users, strict=True)
            if user is not None  # else deleted meanwhile
        ],
        next_cursor=page.next_cursor,
    )


def _view(member: GroupMember, user: User, domain: str) -> GroupMemberView:
    return GroupMemberView(
        user_id=user.id,
        details=answers.details(member, member.org_id),
        sources=member.sources,
        preferred_login_name=f"{user.user_name}@{domain}",
        display_name=user.profile.display_name,
    )
