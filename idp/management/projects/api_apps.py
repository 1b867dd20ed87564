"""API applications: no user signs in to them, and they ask for the state of tokens (introspection,
RFC 7662)."""

from __future__ import annotations

from typing import Annotated, Any, Final

from idp.changes import Planned
from idp.foundation.errors import FailedPrecondition
from idp.management.call import Call
from idp.management.projects import apps
from idp.management.projects.apps import AppConfigured, AppRegistered
from idp.records import Application, AuthMethod
from idp.schema.field_rules import Name, OneOf
from idp.schema.reading import Request
from idp.service import Service

AUTH_METHODS: Final[dict[str, AuthMethod]] = {
    "API_AUTH_METHOD_TYPE_BASIC": "client_secret_basic",
    "API_AUTH_METHOD_TYPE_PRIVATE_KEY_JWT": "private_key_jwt",
}


class ApiSettings(Request, frozen=True, kw_only=True):
    auth_method_type: Annotated[str, OneOf(tuple(AUTH_METHODS))] = "API_AUTH_METHOD_TYPE_BASIC"


class NewApiApp(ApiSettings, frozen=True, kw_only=True):
    name: Name


async def create(
    service: Service, call: Call, project_id: str, request: NewApiApp
) -> Planned[AppRegistered]:
    """Registers an API application in a project. Raises NotFound (the project)."""
    return await apps.register(service, call, project_id, request.name, settings(request))


async def configure(
    service: Service, call: Call, project_id: str, app_id: str, request: ApiSettings
) -> Planned[AppConfigured]:
    """Replaces the method by which an API application authenticates.

    Raises NotFound, PermissionDenied, FailedPrecondition (the application is of another kind).
    """
    values = settings(request)
    return await apps.configure(service, call, project_id, app_id, values, _check)


def _check(client: Application) -> None:
    if client.app_type != "api":
        raise FailedPrecondition("this is not an API application", error_code="app.not_api")


def settings(request: ApiSettings) -> dict[str, Any]:
    """Returns the fields of an application record that the request sets, as a dict."""
    return {
        "auth_method": AUTH_METHODS[request.auth_method_type],
        "app_type": "api",
        # No sign-in leads to an API, and it gets no tokens.
        "redirect_uris": [],
        "response_types": [],
        "grant_types": [],
    }
