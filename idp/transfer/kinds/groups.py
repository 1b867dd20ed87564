"""The kinds of rows of groups: `groups`, `groupMembers` (the members that one source states, some
in each row) and `groupGrants` (the roles of groups in projects)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Annotated, Any, Final

from msgspec import Struct

from idp.foundation.texts.text_folding import folded
from idp.identity.users import groups
from idp.records import USERS, Organization, User
from idp.records.groups import GROUP_MEMBERS, GROUPS, Group, GroupMember, member_id, owner_name_key
from idp.schema.field_rules import Items, Name, Text
from idp.schema.reading import Request
from idp.transfer.kinds import export_iteration, target_organizations, upsert
from idp.transfer.kinds.kind import ExportContext, ImportContext, RowKind
from idp.transfer.kinds.packaged_ids import RecordId, named
from idp.transfer.kinds.upsert import UpsertPlan
from idp.transfer.package.rows import ParsedRow, RowPlan, RowProblem, refused
from storage import Write

_MAX_USERS: Final = 200  # of one row, which is one unit


class GroupRow(Request, frozen=True, kw_only=True):
    group_id: Annotated[str, RecordId()]
    name: Name
    external_id: Annotated[str, Text()] = ""


class GroupMembersRow(Request, frozen=True, kw_only=True):
    """Members of a group, as stated by `source`."""

    group_id: Name
    source: Annotated[str, Text(1)] = groups.MANUAL
    user_ids: Annotated[list[Name], Items(_MAX_USERS, min=1)]


async def plan_groups(context: ImportContext, parsed_rows: Sequence[ParsedRow]) -> list[RowPlan]:
    """Plans rows of groups (`RowKind.plan`): each is created, skipped, or updated."""
    organizations = await target_organizations.by_id(context, parsed_rows)
    rows = [_group_row(parsed) for parsed in parsed_rows]
    stored = await upsert.by_id(context, GROUPS, (row.group_id for row in rows))
    same_name_ids = await asyncio.gather(
        *(
            _group_with_name(context, parsed.row.org_id, row.name)
            for parsed, row in zip(parsed_rows, rows, strict=True)
        )
    )
    return [
        _plan_group(
            context,
            parsed,
            organizations.get(parsed.row.org_id),
            stored.get(row.group_id),
            same_name_id,
        )
        for parsed, row, same_name_id in zip(parsed_rows, rows, same_name_ids, strict=True)
    ]


def _group_row(parsed: ParsedRow) -> GroupRow:
    assert isinstance(parsed.request, GroupRow)  # noqa: S101 - for mypy
    return parsed.request


async def _group_with_name(context: ImportContext, org_id: str, name: str) -> str | None:
    """Returns the id of the organization's group with this name, if there is one."""
    where = {"owner_name_key": owner_name_key(org_id, folded(name))}
    page = await context.service.store.find(GROUPS, where, limit=1)
    return page.records[0].id if page.records else None


def _plan_group(
    context: ImportContext,
    parsed: ParsedRow,
    organization: Organization | None,
    stored: Group | None,
    same_name_id: str | None,
) -> RowPlan:
    row = _group_row(parsed)
    if organization is None:
        return target_organizations.organization_not_found(row.group_id)
    if stored is not None and stored.org_id != organization.id:
        return upsert.not_in_organization(row.group_id, "groupId")
    if same_name_id not in (None, row.group_id):
        return refused(row.group_id, _NAME_TAKEN)
    new_group = groups.new(
        context.service, organization.id, row.name, row.external_id or None, row.group_id
    )
    plan = UpsertPlan(
        id=row.group_id,
        collection=GROUPS,
        record=new_group,
        type="group",
        fields=(
            "name",
            "name_key",
            "owner_name_key",
            *(["external_id"] if row.external_id else []),
        ),
        payload={"name": new_group.name},
    )
    return upsert.plan_record(context, parsed, stored, plan)


_NAME_TAKEN: Final = RowProblem(
    error_code="group.name_taken",
    field="name",
    message="is the name of another group of the organization",
    fix="Give one of them another name.",
)


class _MemberReferences(Struct, frozen=True):
    """The existing records to which the rows of a batch refer."""

    groups: Mapping[str, Group]
    users: Mapping[str, User]
    members: Mapping[str, GroupMember]


async def plan_members(context: ImportContext, parsed_rows: Sequence[ParsedRow]) -> list[RowPlan]:
    """Plans rows of members (`RowKind.plan`): the users of a row who are no members yet are added,
    and the row's source is added to the memberships of the others."""
    rows = [_members_row(parsed) for parsed in parsed_rows]
    ids = (member_id(row.group_id, user_id) for row in rows for user_id in row.user_ids)
    references = _MemberReferences(
        await upsert.by_id(context, GROUPS, (row.group_id for row in rows)),
        await upsert.by_id(context, USERS, (user_id for row in rows for user_id in row.user_ids)),
        await upsert.by_id(context, GROUP_MEMBERS, ids),
    )
    return [
        _plan_members(context, parsed, row, references)
        for parsed, row in zip(parsed_rows, rows, strict=True)
    ]


def _members_row(parsed: ParsedRow) -> GroupMembersRow:
    assert isinstance(parsed.request, GroupMembersRow)  # noqa: S101 - for mypy
    return parsed.request


def _plan_members(
    context: ImportContext,
    parsed: ParsedRow,
    row: GroupMembersRow,
    references: _MemberReferences,
) -> RowPlan:
    group = references.groups.get(row.group_id)
    problems = list(_member_problems(parsed, row, references))
    if group is None or problems:
        return refused(row.group_id, *problems)
    writes, joined = list[Write](), 0
    for user_id in dict.fromkeys(row.user_ids):
        user = references.users[user_id]
        change = groups.membership_change(
            context.service,
            group,
            user,
            references.members.get(member_id(group.id, user_id)),
            (row.source, context.actor),
        )
        writes += change.writes
        joined += change.joins
    if not writes:
        return RowPlan(action="skip", id=row.group_id)
    writes += [groups.exists_guard(group, joined=joined)]
    return RowPlan(action="create", id=row.group_id, writes=writes)


def _member_problems(
    parsed: ParsedRow, row: GroupMembersRow, references: _MemberReferences
) -> Iterator[RowProblem]:
    group = references.groups.get(row.group_id)
    if group is None or group.org_id != parsed.row.org_id:
        yield group_not_found("groupId")
    for n, user_id in enumerate(row.user_ids):
        user = references.users.get(user_id)
        if user is None or user.org_id != parsed.row.org_id:
            yield upsert.user_not_found(f"userIds[{n}]")


def group_not_found(field: str) -> RowProblem:
    """Returns the problem of a row whose `field` names a group that does not exist in the
    organization."""
    return RowProblem(
        error_code="group.not_found",
        field=field,
        message="is not a group of the organization",
        fix="Put it into the package as well, or create it first.",
    )


async def export_groups(
    context: ExportContext, organization: Organization
) -> AsyncIterator[dict[str, Any]]:
    """Yields a row for each group of the organization, in the order of their names."""
    async for group in of_organization(context, organization):
        yield export_iteration.non_empty(
            {"groupId": group.id, "name": group.name, "externalId": group.external_id}
        )


def of_organization(context: ExportContext, organization: Organization) -> AsyncIterator[Group]:
    """Yields the organization's groups in the order of their names."""
    where = {"org_id": organization.id}
    return export_iteration.records(context.view, GROUPS, where, order="name_key")


async def export_members(
    context: ExportContext, organization: Organization
) -> AsyncIterator[dict[str, Any]]:
    """Yields rows with the members of the organization's groups; each row has those of one
    source."""
    async for group in of_organization(context, organization):
        where = {"generation": group.generation}
        members = export_iteration.records(context.view, GROUP_MEMBERS, where, order="user_id")
        async for batch in export_iteration.slices(members, _MAX_USERS):
            by_source: dict[str, list[str]] = {}
            for each in batch:
                for source in each.sources:
                    by_source.setdefault(source, []).append(each.user_id)
            for source, user_ids in sorted(by_source.items()):
                yield {"groupId": group.id, "source": source, "userIds": user_ids}


GROUP: Final = RowKind(
    member="groups",
    type="group",
    request=GroupRow,
    name=named("groupId"),
    identity=("groupId",),
    plan=plan_groups,
    export=export_groups,
)
MEMBERS: Final = RowKind(
    member="groupMembers",
    type="group_member",
    request=GroupMembersRow,
    name=named("groupId"),
    plan=plan_members,
    is_independent=True,
    export=export_members,
)
