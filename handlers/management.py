"""/management/v1: what belongs to one organization."""

from __future__ import annotations

from handlers.api import ApiHandler
from idp.clients import oidc_apps, projects
from idp.clients.oidc_request import NewOidcApp
from idp.clients.projects import NewProject
from idp.identity import members, service_users
from idp.identity.members import NewOrganizationMember
from idp.identity.service_users import NewMachine, NewPat


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


class OidcAppsHandler(ApiHandler):
    """POST /management/v1/projects/{id}/apps/oidc."""

    permission = "project.app.write"

    async def post(self, project_id: str) -> None:
        id, request = self.id(project_id), self.read(NewOidcApp)
        self.answer(await oidc_apps.create(self.service, self.call, id, request))


class AppHandler(ApiHandler):
    """GET /management/v1/projects/{id}/apps/{appId}."""

    permission = "project.app.read"

    async def get(self, project_id: str, app_id: str) -> None:
        ids = self.id(project_id), self.id(app_id)
        self.answer(await oidc_apps.show(self.service, self.call, *ids))


class MachinesHandler(ApiHandler):
    """POST /management/v1/users/machine."""

    permission = "user.write"

    async def post(self) -> None:
        self.answer(await service_users.create(self.service, self.call, self.read(NewMachine)))


class PatsHandler(ApiHandler):
    """POST /management/v1/users/{id}/pats."""

    permission = "user.write"

    async def post(self, user_id: str) -> None:
        id, request = self.id(user_id), self.read(NewPat)
        self.answer(await service_users.create_pat(self.service, self.call, id, request))


class MembersHandler(ApiHandler):
    """POST /management/v1/orgs/me/members."""

    permission = "org.member.write"

    async def post(self) -> None:
        request = self.read(NewOrganizationMember)
        self.answer(await members.add_to_organization(self.service, self.call, request))


ROUTES = [
    ("/management/v1/projects", ProjectsHandler),
    ("/management/v1/projects/([^/]+)", ProjectHandler),
    ("/management/v1/projects/([^/]+)/apps/oidc", OidcAppsHandler),
    ("/management/v1/projects/([^/]+)/apps/([^/]+)", AppHandler),
    ("/management/v1/users/machine", MachinesHandler),
    ("/management/v1/users/([^/]+)/pats", PatsHandler),
    ("/management/v1/orgs/me/members", MembersHandler),
]
