"""/management/v1/projects/{id}/apps: applications, their secrets and their keys."""

from __future__ import annotations

from typing import Final

from handlers.api import ApiHandler
from idp.clients import api_apps, apps, key_owners, oidc_apps, read_app, registered_keys
from idp.clients.api_apps import ApiSettings, NewApiApp
from idp.clients.oidc_request import NewOidcApp, OidcSettings
from idp.clients.registered_keys import NewKey
from idp.requests import Nothing

_APPS: Final = "/management/v1/projects/([^/]+)/apps"
_APP: Final = f"{_APPS}/([^/]+)"


class OidcAppsHandler(ApiHandler):
    """POST /management/v1/projects/{id}/apps/oidc."""

    permission = "project.app.write"

    async def post(self, project_id: str) -> None:
        id, request = self.id(project_id), self.read(NewOidcApp)
        self.answer(await oidc_apps.create(self.service, self.call, id, request))


class ApiAppsHandler(ApiHandler):
    """POST /management/v1/projects/{id}/apps/api."""

    permission = "project.app.write"

    async def post(self, project_id: str) -> None:
        id, request = self.id(project_id), self.read(NewApiApp)
        self.answer(await api_apps.create(self.service, self.call, id, request))


class AppHandler(ApiHandler):
    """GET /management/v1/projects/{id}/apps/{appId}."""

    permission = "project.app.read"

    async def get(self, project_id: str, app_id: str) -> None:
        ids = self.id(project_id), self.id(app_id)
        self.answer(await read_app.show(self.service, self.call, *ids))


class OidcConfigHandler(ApiHandler):
    """PUT /management/v1/projects/{id}/apps/{appId}/oidc_config."""

    permission = "project.app.write"

    async def put(self, project_id: str, app_id: str) -> None:
        request, ids = self.read(OidcSettings), (self.id(project_id), self.id(app_id))
        self.answer(await oidc_apps.configure(self.service, self.call, *ids, request))


class ApiConfigHandler(ApiHandler):
    """PUT /management/v1/projects/{id}/apps/{appId}/api_config."""

    permission = "project.app.write"

    async def put(self, project_id: str, app_id: str) -> None:
        request, ids = self.read(ApiSettings), (self.id(project_id), self.id(app_id))
        self.answer(await api_apps.configure(self.service, self.call, *ids, request))


class ClientSecretHandler(ApiHandler):
    """POST …/apps/{appId}/oidc_config/_generate_client_secret, and of api_config."""

    permission = "project.app.write"

    async def post(self, project_id: str, app_id: str) -> None:
        self.read(Nothing)
        ids = self.id(project_id), self.id(app_id)
        self.answer(await apps.generate_secret(self.service, self.call, *ids))


class AppKeysHandler(ApiHandler):
    """GET and POST /management/v1/projects/{id}/apps/{appId}/keys."""

    permission = {"GET": "project.app.read", "POST": "project.app.write"}

    async def get(self, project_id: str, app_id: str) -> None:
        ids = self.id(project_id), self.id(app_id)
        owner = await key_owners.application(self.service, self.call, *ids)
        self.answer(await registered_keys.listed(self.service, owner))

    async def post(self, project_id: str, app_id: str) -> None:
        request, ids = self.read(NewKey), (self.id(project_id), self.id(app_id))
        owner = await key_owners.own_application(self.service, self.call, *ids)
        self.answer(await registered_keys.create(self.service, self.call, owner, request))


class AppKeyHandler(ApiHandler):
    """GET and DELETE /management/v1/projects/{id}/apps/{appId}/keys/{keyId}."""

    permission = {"GET": "project.app.read", "DELETE": "project.app.write"}

    async def get(self, project_id: str, app_id: str, key_id: str) -> None:
        ids = self.id(project_id), self.id(app_id)
        owner = await key_owners.application(self.service, self.call, *ids)
        self.answer(await registered_keys.show(self.service, owner, self.id(key_id)))

    async def delete(self, project_id: str, app_id: str, key_id: str) -> None:
        ids = self.id(project_id), self.id(app_id)
        owner = await key_owners.own_application(self.service, self.call, *ids)
        key_id = self.id(key_id)
        self.answer(await registered_keys.remove(self.service, self.call, owner, key_id))


ROUTES = [
    (f"{_APPS}/oidc", OidcAppsHandler),
    (f"{_APPS}/api", ApiAppsHandler),
    (_APP, AppHandler),
    (f"{_APP}/oidc_config", OidcConfigHandler),
    (f"{_APP}/api_config", ApiConfigHandler),
    (f"{_APP}/(?:oidc_config|api_config)/_generate_client_secret", ClientSecretHandler),
    (f"{_APP}/keys", AppKeysHandler),
    (f"{_APP}/keys/([^/]+)", AppKeyHandler),
]
