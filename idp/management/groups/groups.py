"""Calls that create, show, change and delete groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Final

from idp import changes
from idp.audit import deferred_work
from idp.changes import Change
from idp.foundation.errors import FieldProblem, NotFound, Taken
from idp.identity.users import groups, organizations
from idp.management import call as management_call
from idp.management.call import Call
from idp.records import DEFERRED_WORK
from idp.records.groups import GROUP_GRANTS, GROUPS, Group, GroupGrant
from idp.schema import answers
from idp.schema.answers import Answer, Changed, Details
from idp.schema.field_rules import Name, Text
from idp.schema.reading import Request
from idp.service import Service
from storage import Insert

MAX_GRANTS: Final = 100  # projects in which one group has roles


class GroupSettings(Request, frozen=True, kw_only=True):
    """`external_id` is the id of the group in the system that it comes from."""

    name: Name
    external_id: Annotated[str, Text()] = ""


class NewGroup(GroupSettings, frozen=True, kw_only=True):
    """The settings of a new group."""


class GroupCreated(Answer, frozen=True, kw_only=True):
    id: str
    details: Details


class GroupGrantView(Answer, frozen=True, kw_only=True):
    """The roles of a group in a project."""

    project_id: str
    role_keys: list[str]


class GroupView(Answer, frozen=True, kw_only=True):
    id: str
    details: Details
    name: str
    external_id: str = ""
    member_count: int = 0


class GroupWithGrants(GroupView, frozen=True, kw_only=True):
    grants: list[GroupGrantView] = []


class GroupFound(Answer, frozen=True, kw_only=True):
    details: Details
    group: GroupWithGrants


async def create(service: Service, call: Call, request: NewGroup) -> Change[GroupCreated]:
    """Creates a group without members in the call's organization.

    Raises PermissionDenied, NotFound, Taken (the name), FailedPrecondition (too many groups).
    """

    organization = await management_call.organization(service, call)
    await groups.check_room(service, organization.id)
    group = groups.new(service, organization.id, request.name, request.external_id or None)
    return Change(
        GroupCreated(id=group.id, details=answers.details(group, group.org_id)),
        [
            *changes.created(service, call, GROUPS, group, "group.created", {"name": group.name}),
            organizations.state_unchanged(organization),
        ],
        if_taken=name_taken(),
    )


async def find(service: Service, call: Call, group_id: str) -> Group:
    """Returns a group, if the call may act in its organization.

    Raises NotFound, also if the call may not.
    """
    group = await service.store.get(GROUPS, group_id)
    if group is None or not call.reaches(group.org_id):
        raise NotFound("there is no such group", error_code="group.not_found")
    return group


async def show(service: Service, call: Call, group_id: str) -> GroupFound:
    """Returns a group with the roles that it has in projects. Raises NotFound."""
    group = await find(service, call, group_id)
    grants = await grants_of(service, group)
    group_view = view(group)
    return GroupFound(
        details=group_view.details,
        group=GroupWithGrants(
            id=group_view.id,
            details=group_view.details,
            name=group_view.name,
            external_id=group_view.external_id,
            member_count=group_view.member_count,
            grants=[
                GroupGrantView(project_id=each.project_id, role_keys=each.role_keys)
                for each in grants
            ],
        ),
    )


async def grants_of(service: Service, group: Group) -> Sequence[GroupGrant]:
    """Returns the roles that a group has in projects, as one record for each project."""
    where = {"generation": group.generation}
    return (await service.store.find(GROUP_GRANTS, where, limit=MAX_GRANTS)).records


def view(group: Group) -> GroupView:
    """Returns a group in the form in which the API returns it in lists."""
    return GroupView(
        id=group.id,
        details=answers.details(group, group.org_id),
        name=group.name,
        external_id=group.external_id or "",
        member_count=group.member_count,
    )


async def change(
    service: Service, call: Call, group_id: str, request: GroupSettings
) -> Change[Changed]:
    """Replaces the name and the external id of a group. Raises NotFound, Taken (the name)."""
    group = await find(service, call, group_id)
    values = {
        **groups.name_fields(group, request.name),
        "external_id": request.external_id or None,
    }
    change = changes.updated(service, call, GROUPS, group, values, "group.changed").change()
    return replace(change, if_taken=name_taken())


async def remove(service: Service, call: Call, group_id: str) -> Change[Changed]:
    """Deletes a group; its members lose the roles that they had by it. Raises NotFound."""
    group = await find(service, call, group_id)
    # Identified by its generation, which a later group with the same id does not share.
    work = deferred_work.new(service, groups.DELETED, group.generation, call.actor)
    return changes.removed(service, call, GROUPS, group, groups.DELETED).change(
        Insert(DEFERRED_WORK, work),
        afterwards=[deferred_work.first_step(service, work, groups.purge)],
    )


def name_taken() -> Taken:
    """Returns the error for a name that another group of the organization has."""
    message = "is the name of another group of the organization"
    return Taken([FieldProblem("group.name_taken", "name", message)])
