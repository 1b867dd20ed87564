"""Calls on the roles of a project, which can be assigned to its users."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from msgspec import Struct

from idp import changes
from idp.changes import Change
from idp.foundation import opaque_tokens
from idp.foundation.errors import FieldProblem, InvalidArgument, NotFound, Taken
from idp.management.call import Call
from idp.management.projects import projects
from idp.records import PROJECT_ROLES, Project, ProjectRole
from idp.schema import answers
from idp.schema.answers import Answer, Changed, Details
from idp.schema.field_rules import FieldRefused, Name, Schema, Text
from idp.schema.reading import Request
from idp.search import paging
from idp.search.paging import ListDetails
from idp.service import Service
from storage import Update, Write


class RoleKey(Struct, frozen=True):
    """The rule (`field_rules.Rule`) of a field that holds the key of a role, by which programs
    identify it.

    A key may be part of a scope and therefore has no blanks.
    """

    def read(self, value: object) -> str:
        key = Text(1).read(value)
        if not key.isprintable() or any(character.isspace() for character in key):
            raise FieldRefused("field.characters", "must not contain spaces")
        return key

    def schema(self) -> Schema:
        return Text(1).schema() | {"examples": ["buyer"]}


class RoleSettings(Request, frozen=True, kw_only=True):
    display_name: Name
    group: Annotated[str, Text()] = ""


class NewRole(RoleSettings, frozen=True, kw_only=True):
    role_key: Annotated[str, RoleKey()]


class RoleView(Answer, frozen=True, kw_only=True):
    key: str
    details: Details
    display_name: str
    group: str = ""


class ProjectRoles(Answer, frozen=True, kw_only=True):
    details: ListDetails
    result: list[RoleView] = []


async def add(service: Service, call: Call, project_id: str, request: NewRole) -> Change[Changed]:
    """Adds a role to a project. Raises NotFound (the project), Taken (the key)."""
    project = await projects.find(service, call, project_id)
    role = new(service, project, request)
    event = "project_role.created"
    return Change(
        Changed(details=answers.details(role, role.org_id)),
        [
            *changes.created(service, call, PROJECT_ROLES, role, event, {"key": role.key}),
            projects.state_unchanged(project),
        ],
        if_taken=Taken(
            [FieldProblem("role.exists", "roleKey", "is already a role of the project")]
        ),
    )


def new(service: Service, project: Project, request: NewRole) -> ProjectRole:
    """Returns a new record of a role that the request describes; the caller stores it."""
    now = service.clock.now()
    return ProjectRole(
        id=id_of(project.id, request.role_key),
        project_id=project.id,
        org_id=project.org_id,
        key=request.role_key,
        display_name=request.display_name,
        group=request.group or None,
        created_at=now,
        changed_at=now,
    )


async def change(
    service: Service, call: Call, project_id: str, key: str, request: RoleSettings
) -> Change[Changed]:
    """Replaces a role's display name and group; its key does not change. Raises NotFound."""
    role = await find(service, await projects.find(service, call, project_id), key)
    values = {"display_name": request.display_name, "group": request.group or None}
    return changes.updated(
        service, call, PROJECT_ROLES, role, values, "project_role.changed"
    ).change()


async def find_all(service: Service, call: Call, project_id: str) -> ProjectRoles:
    """Returns the roles of a project in the order of their keys, at most a thousand.

    Raises NotFound.
    """
    project = await projects.find(service, call, project_id)
    where = {"project_id": project.id}
    details, stored_roles = await paging.first_page(service, PROJECT_ROLES, where, order="key")
    return ProjectRoles(details=details, result=[_view(role) for role in stored_roles])


async def find(service: Service, project: Project, key: str) -> ProjectRole:
    """Returns the role of a project that has this key. Raises NotFound."""
    role = await service.store.get(PROJECT_ROLES, id_of(project.id, key))
    if role is None:
        raise NotFound("there is no such role", error_code="role.not_found")
    return role


async def find_by_keys(
    service: Service, project: Project, keys: Sequence[str]
) -> list[ProjectRole]:
    """Returns the roles of a project that have these keys, without duplicates.

    Raises InvalidArgument if the project has no such role.
    """
    # One round trip for all keys, because the id of a role follows from its key.
    record_keys = [(PROJECT_ROLES, id_of(project.id, key)) for key in keys]
    stored_roles = await service.store.get_many(record_keys) if record_keys else []
    problems = [
        FieldProblem("role.not_found", f"roleKeys[{n}]", "is not a role of the project")
        for n, role in enumerate(stored_roles)
        if role is None
    ]
    if problems:
        raise InvalidArgument(problems)
    return list({role.key: role for role in stored_roles}.values())


def unchanged(role_records: Sequence[ProjectRole]) -> list[Write]:
    """Returns guards for the unit in which the caller assigns the roles in `role_records`: it is
    stored only if none of them was deleted or changed."""
    return [
        Update(PROJECT_ROLES, role.id, expect={"sequence": role.sequence}) for role in role_records
    ]


def id_of(project_id: str, key: str) -> str:
    """Returns the id of a role's record: a digest of project and key, so that a project has each
    key once."""
    return opaque_tokens.digest(f"{project_id}\n{key}")


def _view(role: ProjectRole) -> RoleView:
    return RoleView(
        key=role.key,
        details=answers.details(role, role.org_id),
        display_name=role.display_name,
        group=role.group or "",
    )
