"""/management/v1/projects: projects and the roles in them."""

from __future__ import annotations

from typing import Final

from handlers.api import ApiHandler
from idp.clients import projects, role_assignments, roles
from idp.clients.projects import NewProject
from idp.clients.roles import NewRole

_PROJECT: Final = "/management/v1/projects/([^/]+)"


class ProjectsHandler(ApiHandler):
    """POST /management/v1/projects."""

    permission = "project.write"

    async def post(self) -> None:
        self.answer(await projects.create(self.service, self.call, self.read(NewProject)))


class ProjectHandler(ApiHandler):
    """GET /management/v1/projects/{id}."""

    permission = "project.read"

    async def get(self, project_id: str) -> None:
        self.answer(await projects.show(self.service, self.call, self.id(project_id)))


class RolesHandler(ApiHandler):
    """GET and POST /management/v1/projects/{id}/roles."""

    permission = {"GET": "project.read", "POST": "project.write"}

    async def get(self, project_id: str) -> None:
        self.answer(await roles.listed(self.service, self.call, self.id(project_id)))

    async def post(self, project_id: str) -> None:
        id, request = self.id(project_id), self.read(NewRole)
        self.answer(await roles.add(self.service, self.call, id, request))


class RoleHandler(ApiHandler):
    """DELETE /management/v1/projects/{id}/roles/{roleKey}."""

    permission = "project.write"

    async def delete(self, project_id: str, key: str) -> None:
        id = self.id(project_id)
        self.answer(await role_assignments.remove_role(self.service, self.call, id, key))


ROUTES = [
    ("/management/v1/projects", ProjectsHandler),
    (_PROJECT, ProjectHandler),
    (f"{_PROJECT}/roles", RolesHandler),
    (f"{_PROJECT}/roles/([^/]+)", RoleHandler),
]
