"""Calls on projects. Each application of an organization belongs to a project."""

from __future__ import annotations

from typing import Annotated

from idp import changes
from idp.changes import Change
from idp.foundation.errors import NotFound
from idp.management import call as management_call
from idp.management.call import Call
from idp.management.projects import allowed_users, management_access
from idp.records import PROJECTS, Project
from idp.schema import answers
from idp.schema.answers import Answer, Changed, Details
from idp.schema.field_rules import Name, NotYet
from idp.schema.reading import Request
from idp.service import Service
from storage import Update, Write


class ProjectSettings(Request, frozen=True, kw_only=True):
    """The name of a project and its checks. A check that is omitted is off in a new project, and
    does not change in an existing one.
    """

    name: Name
    project_role_assertion: Annotated[object, NotYet("project.role_assertion.unsupported")] = False
    project_role_check: bool | None = None
    has_project_check: bool | None = None


class NewProject(ProjectSettings, frozen=True, kw_only=True):
    """The settings of a new project."""


class ProjectCreated(Answer, frozen=True, kw_only=True):
    id: str
    details: Details


class ProjectView(Answer, frozen=True, kw_only=True):
    id: str
    details: Details
    name: str
    state: str = "PROJECT_STATE_UNSPECIFIED"
    project_role_check: bool = False
    has_project_check: bool = False


class ProjectFound(Answer, frozen=True, kw_only=True):
    details: Details
    project: ProjectView


async def create(service: Service, call: Call, request: NewProject) -> Change[ProjectCreated]:
    """Creates a project in the call's organization. Raises PermissionDenied, NotFound."""
    organization = await management_call.organization(service, call)
    now = service.clock.now()
    project = Project(
        id=service.random.id(),
        org_id=organization.id,
        name=request.name,
        created_at=now,
        changed_at=now,
        requires_grant=bool(request.has_project_check),
        requires_role=bool(request.project_role_check),
    )
    return Change(
        ProjectCreated(id=project.id, details=answers.details(project, project.org_id)),
        changes.created(service, call, PROJECTS, project, "project.created"),
    )


async def find(service: Service, call: Call, project_id: str) -> Project:
    """Returns a project, if the call may act in its organization.

    Raises NotFound, also if the call may not.
    """
    project = await service.store.get(PROJECTS, project_id)
    if project is None or not call.reaches(project.org_id):
        raise NotFound("there is no such project", error_code="project.not_found")
    return project


async def show(service: Service, call: Call, project_id: str) -> ProjectFound:
    """Returns a project with its details. Raises NotFound."""
    project = await find(service, call, project_id)
    project_view = view(project)
    return ProjectFound(details=project_view.details, project=project_view)


def view(project: Project) -> ProjectView:
    """Returns a project in the form in which the API returns it."""
    return ProjectView(
        id=project.id,
        details=answers.details(project, project.org_id),
        name=project.name,
        state=f"PROJECT_STATE_{project.state.upper()}",
        project_role_check=project.requires_role,
        has_project_check=project.requires_grant,
    )


async def change(
    service: Service, call: Call, project_id: str, request: ProjectSettings
) -> Change[Changed]:
    """Changes a project's name, and its checks of who may use its applications.

    Raises NotFound; PermissionDenied if the checks would decide who may use an application with
    management access.
    """
    project = await find(service, call, project_id)
    if _changes_checks(project, request):  # a new name does not change access
        await management_access.check(service, call, project)
    grant, role = request.has_project_check, request.project_role_check
    checks = allowed_users.check_fields(
        service.random,
        project,
        requires_grant=project.requires_grant if grant is None else grant,
        requires_role=project.requires_role if role is None else role,
    )
    values = {"name": request.name, **checks}
    return changes.updated(service, call, PROJECTS, project, values, "project.changed").change()


def _changes_checks(project: Project, request: ProjectSettings) -> bool:
    current = (project.requires_grant, project.requires_role)
    requested = (request.has_project_check, request.project_role_check)
    return any(new not in (None, old) for old, new in zip(current, requested, strict=True))


def state_unchanged(project: Project) -> Write:
    """Returns a guard for the unit in which the caller creates a record in a project: the unit is
    stored only if the project still exists in the state that `project` has."""
    return Update(PROJECTS, project.id, expect={"state": project.state})
