"""Registers, finds and changes applications of any kind.

The argument `settings` of these functions holds fields of the application record, always with
`auth_method`; this module sets all other fields.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from idp.audit import events, versioned_updates
from idp.audit.events import AuditEntry
from idp.audit.versioned_updates import Changed
from idp.clients import web_origins
from idp.credentials import client_secrets
from idp.foundation.errors import NotFound, PermissionDenied
from idp.management.call import Call
from idp.management.projects import allowed_users, compliance, projects
from idp.management.projects.compliance import ComplianceProblem
from idp.oauth import key_rotation
from idp.records import APPLICATIONS, Application, AppState, AuthMethod, Project
from idp.schema import answers
from idp.schema.answers import Answer, Details
from idp.schema.field_rules import Name
from idp.schema.reading import Request
from idp.service import Service
from storage import Write
from storage.confirmed_commit import commit_confirmed

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
) -> AppRegistered:
    """Registers an application in a project.

    Raises NotFound (the project), PermissionDenied (only owners of the installation decide about
    management access).
    """
    _check_management_access(call, settings)
    await projects.find(service, call, project_id)
    await _ensure_keys(service, call, settings)
    secret = service.random.token() if settings["auth_method"] in SECRET_METHODS else None
    fields = {
        **settings,
        "name": name,
        **client_secrets.initial_fields(secret, service.clock.now()),
    }

    async def attempt() -> Application:
        project = await projects.find(service, call, project_id)
        client = new(service, project, fields)
        entry = AuditEntry("application.created", call.actor, client.created_at)
        await commit_confirmed(
            service.store,
            *events.insertion(service.random, APPLICATIONS, client, entry),
            *web_origins.changes(None, client),
            projects.state_unchanged(project),
        )
        return client

    client = await versioned_updates.repeated(attempt)
    return AppRegistered(app_id=client.id, client_id=client.id, **_answer(client, secret))


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
) -> Changed:
    """Gives an application another name.

    Raises NotFound, PermissionDenied (it has management access, and the caller is no owner of the
    installation).
    """
    client = await versioned_updates.changed(
        service,
        APPLICATIONS,
        lambda: find_to_change(service, call, project_id, app_id),
        lambda _: {"name": request.name},
        "application.changed",
        call,
    )
    return Changed(details=answers.details(client, client.org_id))


async def configure(
    service: Service,
    call: Call,
    project_id: str,
    app_id: str,
    settings: Mapping[str, Any],
    check: Callable[[Application], None],
) -> AppConfigured:
    """Replaces the settings of an application. `check` is called with the application before the
    change, and raises an error if the application must not get these settings.

    Tokens that are issued from then on follow the new settings. Earlier ones stay valid, with two
    exceptions: all of them end if management access is removed, and those of users who are no
    longer allowed end. Raises NotFound, PermissionDenied (only owners of the installation decide
    about management access), and what `check` raises.
    """
    secret: str | None = None

    async def find_client() -> Application:
        client = await find_to_change(service, call, project_id, app_id)
        _check_management_access(call, settings)
        check(client)
        # Before keys are generated: a call that is refused must not change anything.
        versioned_updates.check_sequence(client, call)
        await _ensure_keys(service, call, settings)
        return client

    def decide(client: Application) -> Mapping[str, object]:
        nonlocal secret
        # An application keeps its secret, and gets one when it first authenticates by one.
        has_secret, stored_hash = settings["auth_method"] in SECRET_METHODS, client.secret_hash
        secret = service.random.token() if has_secret and stored_hash is None else None
        keeps_secret = has_secret and stored_hash is not None
        initial_fields = client_secrets.initial_fields(secret, service.clock.now())
        secrets = {} if keeps_secret else initial_fields
        loses_access = client.has_management_access and not settings.get("has_management_access")
        stamp = service.random.token(bits=64) if loses_access else client.stamp
        restriction_stamps = allowed_users.restriction_stamps(service.random, client, settings)
        return {**settings, **secrets, **restriction_stamps, "stamp": stamp}

    def further_writes(before: Application, after: Application) -> list[Write]:
        deletions = client_secrets.last_use_deletions(before, after)
        return [*web_origins.changes(before, after), *deletions]

    event_type = "application.changed"
    client = await versioned_updates.changed(
        service, APPLICATIONS, find_client, decide, event_type, call, further_writes
    )
    return AppConfigured(**_answer(client, secret))


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


async def _ensure_keys(service: Service, call: Call, settings: Mapping[str, Any]) -> None:
    """Generates keys for the application's signing algorithm if there are none; for the default
    algorithm there always are."""
    if settings.get("signing_algorithm", "RS256") != "RS256":
        await key_rotation.ensure(service, settings["signing_algorithm"], actor=call.actor)


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
