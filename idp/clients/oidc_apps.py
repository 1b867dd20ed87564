"""OpenID Connect applications: registering one, and showing what is registered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

from idp import answers, credentials, events
from idp.access import Call
from idp.answers import Answer, Details
from idp.clients import projects, redirect_uris
from idp.clients.oidc_request import (
    APP_TYPES,
    AUTH_METHODS,
    GRANT_TYPES,
    RESPONSE_TYPES,
    TOKEN_TYPES,
    NewOidcApp,
)
from idp.errors import NotFound
from idp.records import APPLICATIONS, Application, Project
from idp.service import Service
from storage.settling import commit_settled

V = TypeVar("V")


class ComplianceProblem(Answer, frozen=True, kw_only=True):
    """Why an application is not as today's standards want it: `key` is for programs."""

    key: str
    localized_message: str


class OidcAppCreated(Answer, frozen=True, kw_only=True):
    """`client_secret` is shown here and never again."""

    app_id: str
    details: Details
    client_id: str
    client_secret: str = ""
    none_compliant: bool = False
    compliance_problems: list[ComplianceProblem] = []


class OidcConfig(Answer, frozen=True, kw_only=True):
    """A registration as it was made, without its secret."""

    client_id: str
    redirect_uris: list[str] = []
    response_types: list[str] = []
    grant_types: list[str] = []
    app_type: str = ""
    auth_method_type: str = ""
    post_logout_redirect_uris: list[str] = []
    version: str = ""
    none_compliant: bool = False
    compliance_problems: list[ComplianceProblem] = []
    dev_mode: bool = False
    access_token_type: str = ""
    id_token_userinfo_assertion: bool = False
    home_url: str = ""


class AppView(Answer, frozen=True, kw_only=True):
    id: str
    details: Details
    name: str
    state: str
    oidc_config: OidcConfig


class AppFound(Answer, frozen=True, kw_only=True):
    details: Details
    app: AppView


async def create(
    service: Service, call: Call, project_id: str, request: NewOidcApp
) -> OidcAppCreated:
    """Register an application in a project. Raises NotFound: the project."""
    project = await projects.find(service, call, project_id)
    secret = None if request.auth_method_type.endswith("_NONE") else service.random.token()
    client = _application(service, project, request, secret)
    type, now = "application.created", client.created_at
    await commit_settled(
        service.store,
        *events.insertion(service.random, APPLICATIONS, client, type, call.actor, now),
    )
    problems = list(_problems(client))
    return OidcAppCreated(
        app_id=client.id,
        details=answers.details(client, client.org_id),
        client_id=client.id,
        client_secret=secret or "",
        none_compliant=bool(problems),
        compliance_problems=problems,
    )


def _application(
    service: Service, project: Project, request: NewOidcApp, secret: str | None
) -> Application:
    now = service.clock.now()
    responses = dict.fromkeys(RESPONSE_TYPES[each] for each in request.response_types)
    grants = dict.fromkeys(GRANT_TYPES[each] for each in request.grant_types)
    return Application(
        id=service.random.id(),
        project_id=project.id,
        org_id=project.org_id,
        name=request.name,
        auth_method=AUTH_METHODS[request.auth_method_type],
        redirect_uris=request.redirect_uris,
        stamp=service.random.token(bits=64),
        created_at=now,
        changed_at=now,
        post_logout_redirect_uris=request.post_logout_redirect_uris,
        response_types=list(responses) or ["code"],
        grant_types=list(grants) or ["authorization_code"],
        access_token_type=TOKEN_TYPES[request.access_token_type],
        id_token_userinfo_assertion=request.id_token_userinfo_assertion,
        secret_hash=credentials.digest(secret) if secret else None,
        app_type=APP_TYPES[request.app_type],
        is_dev_mode=request.dev_mode,
        home_url=request.home_url or None,
    )


async def show(service: Service, call: Call, project_id: str, app_id: str) -> AppFound:
    """What is registered. Raises NotFound: the project or the application."""
    project = await projects.find(service, call, project_id)
    client = await service.store.get(APPLICATIONS, app_id)
    if client is None or client.project_id != project.id:
        raise NotFound("there is no such application", slug="app.not_found")
    details = answers.details(client, client.org_id)
    view = AppView(
        id=client.id,
        details=details,
        name=client.name,
        state=f"APP_STATE_{client.state.upper()}",
        oidc_config=_config(client),
    )
    return AppFound(details=details, app=view)


def _config(client: Application) -> OidcConfig:
    problems = list(_problems(client))
    return OidcConfig(
        client_id=client.id,
        redirect_uris=client.redirect_uris,
        response_types=[_named(RESPONSE_TYPES, each) for each in client.response_types],
        grant_types=[_named(GRANT_TYPES, each) for each in client.grant_types],
        app_type=_named(APP_TYPES, client.app_type),
        auth_method_type=_named(AUTH_METHODS, client.auth_method),
        post_logout_redirect_uris=client.post_logout_redirect_uris,
        version="OIDC_VERSION_1_0",
        none_compliant=bool(problems),
        compliance_problems=problems,
        dev_mode=client.is_dev_mode,
        access_token_type=_named(TOKEN_TYPES, client.access_token_type),
        id_token_userinfo_assertion=client.id_token_userinfo_assertion,
        home_url=client.home_url or "",
    )


def _named(names: Mapping[str, V], value: V) -> str:
    return next(name for name, each in names.items() if each == value)


def _problems(client: Application) -> Iterator[ComplianceProblem]:
    """What keeps the application from being as RFC 9700 and RFC 8252 want it."""
    if not client.redirect_uris:
        yield _problem("redirect_uris.missing", "Without a redirect URI nobody can sign in.")
    uris = [*client.redirect_uris, *client.post_logout_redirect_uris]
    if any(redirect_uris.is_open_http(uri) for uri in uris):
        yield _problem("redirect_uris.http", "A redirect URI is readable on its way (http).")
    if client.app_type != "web" and client.auth_method != "none":
        yield _problem(
            "auth_method.secret",
            "Whoever has a browser or native app has its secret: use PKCE without a secret.",
        )
    if "authorization_code" not in client.grant_types:
        yield _problem("grant_types.code", "Refresh tokens come of authorization codes only.")


def _problem(key: str, text: str) -> ComplianceProblem:
    return ComplianceProblem(key=f"app.{key}", localized_message=text)
