"""Registers, finds and changes applications of any kind.

The argument `settings` of these functions holds fields of the application record, always with
`auth_method`; this module sets all other fields.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from idp import changes
from idp.changes import Change, Part, Planned
from idp.clients import web_origins
from idp.credentials import client_secrets
from idp.foundation.errors import NotFound, PermissionDenied
from idp.management.call import Call
from idp.management.projects import allowed_users, compliance, projects
from idp.management.projects.compliance import ComplianceProblem
from idp.oauth import key_rotation
from idp.records import APPLICATIONS, Application, AppState, AuthMethod, Project
from idp.schema import answers
from idp.schema.answers import Answer, Changed, Details
from idp.schema.field_rules import Name
from idp.schema.reading import Request
from idp.service import Service

SECRET_METHODS: Final[frozenset[AuthMethod]] = frozenset(
    {"client_secret_basic", "client_secret_post"}
)


class AppName(Request, frozen=True, kw_only=True):
    name: Name


class AppConfigured(Answer, frozen=True, kw_only=True):
    """`client_secret` is present if the application has a new one. It is returned only once."""

    details: Details
    client_secret: str = ""
    none_compliant: bool = False
    compliance_problems: list[ComplianceProblem] = []


class AppRegistered(AppConfigured, frozen=True, kw_only=True):
    app_id: str
    client_id: str


async def register(
    service: Service, call: Call, project_id: str, name: str, settings: Mapping[str, Any]
) -> Planned[AppRegistered]:
    """Registers an application in a project.

    Raises NotFound (the project), PermissionDenied (only owners of the installation decide about
    management access).
    """
    _check_management_access(call, settings)
    project = await projects.find(service, call, project_id)
    part = await _missing_keys(service, call, settings)
    if part is not None:
        return part
    secret = service.random.token() if settings["auth_method"] in SECRET_METHODS else None
    client = new(
        service,
        project,
        {
            **settings,
            "name": name,
            **client_secrets.initial_fields(secret, service.clock.now()),
        },
    )
    return Change(
        AppRegistered(app_id=client.id, client_id=client.id, **_answer(client, secret)),
        [
            *changes.created(service, call, APPLICATIONS, client, "application.created"),
            *web_origins.changes(None, client),
            projects.state_unchanged(project),
        ],
    )


async def draft(
    service: Service, call: Call, project_id: str, name: str, settings: Mapping[str, Any]
) -> Application:
    """Returns the application that `register` would create, without a secret; stores nothing.

    Raises what `register` raises.
    """
    _check_management_access(call, settings)
    project = await projects.find(service, call, project_id)
    return new(service, project, {**settings, "name": name})


def new(
    service: Service, project: Project, fields: Mapping[str, Any], id: str | None = None
) -> Application:
    """Returns a new application record of a project, with the record fields in `fields`; the
    caller stores it. Without an `id` it gets a random one."""
    now = service.clock.now()
    return Application(
        id=id or service.random.id(),
        project_id=project.id,
        org_id=project.org_id,
        stamp=service.random.token(bits=64),
        created_at=now,
        changed_at=now,
        **{"state": inherited_state(project), **fields},
    )


def inherited_state(project: Project) -> AppState:
    """Returns the state that the applications of a project have unless they are deactivated
    themselves: active, or suspended if the project is inactive."""
    return "active" if project.state == "active" else "suspended"


async def rename(
    service: Service, call: Call, project_id: str, app_id: str, request: AppName
) -> Change[Changed]:
    """Gives an application another name.

    Raises NotFound, PermissionDenied (it has management access, and the caller is no owner of the
    installation).
    """
    client = await find_to_change(service, call, project_id, app_id)
    values, event = {"name": request.name}, "application.changed"
    return changes.updated(service, call, APPLICATIONS, client, values, event).change()


async def configure(
    service: Service,
    call: Call,
    project_id: str,
    app_id: str,
    settings: Mapping[str, Any],
    check: Callable[[Application], None],
) -> Planned[AppConfigured]:
    """Replaces the settings of an application. `check` is called with the application before the
    change, and raises an error if the application must not get these settings.

    Tokens that are issued from then on follow the new settings. Earlier ones stay valid, with two
    exceptions: all of them end if management access is removed, and those of users who are no
    longer allowed end. Raises NotFound, PermissionDenied (only owners of the installation decide
    about management access), and what `check` raises.
    """
    client = await find_to_change(service, call, project_id, app_id)
    _check_management_access(call, settings)
    check(client)
    # Before keys are generated: a call that is refused must not change anything.
    changes.check_version(client, call)
    part = await _missing_keys(service, call, settings)
    if part is not None:
        return part
    secret, secret_fields = _secret(service, client, settings)
    loses_access = client.has_management_access and not settings.get("has_management_access")
    values = {
        **settings,
        **secret_fields,
        **allowed_users.restriction_stamps(service.random, client, settings),
        "stamp": service.random.token(bits=64) if loses_access else client.stamp,
    }
    update = changes.updated(service, call, APPLICATIONS, client, values, "application.changed")
    return update.answered(
        AppConfigured(**_answer(update.record, secret)),
        *web_origins.changes(client, update.record),
        *client_secrets.last_use_deletions(client, update.record),
    )


def _secret(
    service: Service, client: Application, settings: Mapping[str, Any]
) -> tuple[str | None, Mapping[str, Any]]:
    """Returns the secret that an application gets with these settings, None if it keeps its own or
    has none, and the fields of its record. It gets one when it first authenticates by one."""
    if settings["auth_method"] in SECRET_METHODS and client.secret_hash is not None:
        return None, {}
    secret = service.random.token() if settings["auth_method"] in SECRET_METHODS else None
    return secret, client_secrets.initial_fields(secret, service.clock.now())


async def find(service: Service, call: Call, project_id: str, app_id: str) -> Application:
    """Returns an application of a project, if the call may act in the project's organization.

    Raises NotFound (the project or the application).
    """
    project = await projects.find(service, call, project_id)
    client = await service.store.get(APPLICATIONS, app_id)
    if client is None or client.project_id != project.id:
        raise NotFound("there is no such application", error_code="app.not_found")
    return client


async def find_to_change(
    service: Service, call: Call, project_id: str, app_id: str
) -> Application:
    """Returns an application that the caller may change. Raises NotFound, PermissionDenied.

    An application with management access has the rights of every user who signs in to it, so only
    owners of the installation may change one.
    """
    client = await find(service, call, project_id, app_id)
    _check_management_access(call, {"has_management_access": client.has_management_access})
    return client


async def _missing_keys(service: Service, call: Call, settings: Mapping[str, Any]) -> Part | None:
    """Returns the unit that stores keys for the application's signing algorithm if there are none;
    for the default algorithm there always are."""
    algorithm = settings.get("signing_algorithm", "RS256")
    if algorithm == "RS256":
        return None
    return await key_rotation.missing_keys(service, algorithm, actor=call.actor)


def _check_management_access(call: Call, settings: Mapping[str, Any]) -> None:
    if settings.get("has_management_access") and "iam.write" not in call.rights.everywhere:
        message = "applications with managementAccess are for owners of the instance"
        raise PermissionDenied(message, field="managementAccess")


def _answer(client: Application, secret: str | None) -> dict[str, Any]:
    problems = compliance.problems(client)
    return {
        "details": answers.details(client, client.org_id),
        "client_secret": secret or "",
        "none_compliant": bool(problems),
        "compliance_problems": problems,
    }
