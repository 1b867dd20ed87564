"""Projects: what groups the applications of an organization."""

from __future__ import annotations

from typing import Annotated

from idp import access, answers, events
from idp.access import Call
from idp.answers import Answer, Details
from idp.errors import NotFound
from idp.fields import Name, NotYet
from idp.records import PROJECTS, Project
from idp.requests import Request
from idp.service import Service
from storage.settling import commit_settled


class NewProject(Request, frozen=True, kw_only=True):
    name: Name
    project_role_assertion: Annotated[object, NotYet("project.role_assertion.unsupported")] = False
    project_role_check: Annotated[object, NotYet("project.role_check.unsupported")] = False
    has_project_check: Annotated[object, NotYet("project.project_check.unsupported")] = False


class ProjectCreated(Answer, frozen=True, kw_only=True):
    id: str
    details: Details


class ProjectView(Answer, frozen=True, kw_only=True):
    id: str
    details: Details
    name: str
    state: str = "PROJECT_STATE_UNSPECIFIED"


class ProjectFound(Answer, frozen=True, kw_only=True):
    details: Details
    project: ProjectView


async def create(service: Service, call: Call, request: NewProject) -> ProjectCreated:
    """Make a project in the call's organization. Raises PermissionDenied, NotFound."""
    organization = await access.organization(service, call)
    now = service.clock.now()
    project = Project(
        id=service.random.id(),
        org_id=organization.id,
        name=request.name,
        created_at=now,
        changed_at=now,
    )
    type = "project.created"
    await commit_settled(
        service.store, *events.insertion(service.random, PROJECTS, project, type, call.actor, now)
    )
    return ProjectCreated(id=project.id, details=answers.details(project, project.org_id))


async def find(service: Service, call: Call, id: str) -> Project:
    """A project that the call reaches. Raises NotFound: whether others have it is theirs."""
    project = await service.store.get(PROJECTS, id)
    if project is None or not call.reaches(project.org_id):
        raise NotFound("there is no such project", slug="project.not_found")
    return project


async def show(service: Service, call: Call, id: str) -> ProjectFound:
    """What is known of a project. Raises NotFound."""
    project = await find(service, call, id)
    details = answers.details(project, project.org_id)
    view = ProjectView(
        id=project.id,
        details=details,
        name=project.name,
        state="PROJECT_STATE_ACTIVE",
    )
    return ProjectFound(details=details, project=view)
