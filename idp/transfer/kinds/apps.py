"""The kinds of rows `oidcApps` and `apiApps`: applications, whose client ids and secrets remain
valid after a move.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from idp.clients import web_origins
from idp.credentials import client_secrets
from idp.management.projects import allowed_users, apps, compliance, projects, read_app
from idp.oauth import key_rotation
from idp.records import APPLICATIONS, PROJECTS, Application, Organization, Project
from idp.transfer.kinds import export_iteration, packaged_secrets, upsert
from idp.transfer.kinds.kind import ExportContext, ImportContext, RowKind
from idp.transfer.kinds.packaged_apps import (
    STATES,
    ApiRow,
    OidcRow,
    PackagedApiApp,
    PackagedOidcApp,
)
from idp.transfer.kinds.packaged_ids import named
from idp.transfer.kinds.upsert import UpsertPlan
from idp.transfer.package.rows import ParsedRow, RowPlan, RowProblem, refused
from storage import Write

_NAMES: Final = {state: name for name, state in STATES.items()}
_DEFAULT_ALGORITHM: Final = "RS256"


class _ApplicationCase(Struct, frozen=True, kw_only=True):
    parsed: ParsedRow
    id: str
    app: PackagedOidcApp | PackagedApiApp


async def plan_rows(context: ImportContext, parsed_rows: Sequence[ParsedRow]) -> list[RowPlan]:
    """Plans rows of applications (`RowKind.plan`): each is created with its client id, skipped, or
    updated.

    It also creates signing keys of an algorithm that no application has used yet, once per
    algorithm, because they must be published before they are needed.
    """
    cases = [_case(parsed) for parsed in parsed_rows]
    # One look-up per batch: a round trip for each row would dominate an import.
    owners = await upsert.by_id(context, PROJECTS, (case.app.project_id for case in cases))
    stored = await upsert.by_id(context, APPLICATIONS, (case.id for case in cases))
    return [
        await _plan_row(context, case, owners.get(case.app.project_id), stored.get(case.id))
        for case in cases
    ]


def _case(parsed: ParsedRow) -> _ApplicationCase:
    row = parsed.request
    assert isinstance(row, OidcRow | ApiRow)  # noqa: S101 - for mypy
    return _ApplicationCase(parsed=parsed, id=row.app.client_id or row.app_id, app=row.app)


async def _plan_row(
    context: ImportContext,
    case: _ApplicationCase,
    project: Project | None,
    stored: Application | None,
) -> RowPlan:
    if project is None or project.org_id != case.parsed.row.org_id:
        return refused(case.id, upsert.project_not_found("app.projectId"))
    settings = case.app.settings()
    is_api = settings["app_type"] == "api"
    if stored is not None:
        # An application never moves to another project, nor between API and OpenID Connect.
        if stored.project_id != project.id or (stored.app_type == "api") is not is_api:
            return upsert.not_in_organization(
                case.id, "app.clientId" if case.app.client_id else "appId"
            )
        if not context.updates:
            return upsert.plan_skip(APPLICATIONS, stored, case.id)
    algorithm = settings.get("signing_algorithm", _DEFAULT_ALGORITHM)
    if algorithm != _DEFAULT_ALGORITHM:
        await key_rotation.ensure(context.service, algorithm, actor=context.actor)
    values = {**settings, "name": case.app.name, **_state(case.app, project)}
    return _plan_upsert(context, case, project, stored, values)


def _state(app: PackagedOidcApp | PackagedApiApp, project: Project) -> Mapping[str, str]:
    if app.state is None:
        return {}
    is_active = STATES[app.state] == "active"
    return {"state": apps.inherited_state(project) if is_active else "inactive"}


def _plan_upsert(
    context: ImportContext,
    case: _ApplicationCase,
    project: Project,
    stored: Application | None,
    values: dict[str, Any],
) -> RowPlan:
    uses_secret = values["auth_method"] in apps.SECRET_METHODS
    if uses_secret:
        values |= packaged_secrets.record_fields(case.app.hashed_secret, case.app.previous_secret)
    elif stored is not None:
        # The authentication method needs no secret any more, so the stored ones are removed.
        values |= client_secrets.initial_fields(None, context.service.clock.now())
    # A new stamp revokes every token that carries the old one.
    if stored is not None and _revokes_tokens(stored, values):
        values["stamp"] = context.service.random.token(bits=64)
    if stored is not None:
        values |= allowed_users.restriction_stamps(context.service.random, stored, values)
    # `apps.new` sets a stamp of its own.
    client = apps.new(context.service, project, _without_stamp(values), case.id)

    def further_writes(before: Application | None, after: Application) -> Sequence[Write]:
        if before is None:
            return [*web_origins.changes(None, after), projects.state_unchanged(project)]
        return [
            *web_origins.changes(before, after),
            *client_secrets.last_use_deletions(before, after),
        ]

    plan = UpsertPlan(
        id=case.id,
        collection=APPLICATIONS,
        record=client,
        type="application",
        fields=tuple(values),
        further_writes=further_writes,
        warnings=tuple(_warnings(case.app, stored, client)),
    )
    return upsert.plan_record(context, case.parsed, stored, plan)


def _revokes_tokens(stored: Application, values: Mapping[str, Any]) -> bool:
    """Returns whether all tokens issued to the application are revoked: it loses management
    access, or is deactivated.
    """
    loses_access = stored.has_management_access and not values.get("has_management_access")
    is_deactivated = values.get("state") == "inactive" and stored.state != "inactive"
    return loses_access or is_deactivated


def _without_stamp(values: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name: value for name, value in values.items() if name != "stamp"}


def _warnings(
    app: PackagedOidcApp | PackagedApiApp, stored: Application | None, client: Application
) -> Iterator[RowProblem]:
    for each in compliance.problems(client):
        yield RowProblem(
            error_code=each.key, field="app", message=each.localized_message, is_error=False
        )
    if app.external_login_uri:
        message = "is not stored: users sign in at this service's own pages"
        yield upsert.not_stored(
            "app.login_version.base_uri", "app.loginVersion.loginV2.baseUri", message
        )
    has_secret = client.secret_hash or (stored and stored.secret_hash)
    if client.auth_method in apps.SECRET_METHODS and not has_secret:
        yield RowProblem(
            error_code="app.secret_missing",
            field="app.hashedSecret",
            message="is missing, so the application can't authenticate yet",
            fix="Generate a secret, and configure the application with it.",
            is_error=False,
        )


async def export_oidc(
    context: ExportContext, organization: Organization
) -> AsyncIterator[dict[str, Any]]:
    """Yields the rows of the organization's OpenID Connect applications, in the order of projects
    and names.
    """
    async for client in _clients(context, organization):
        if client.app_type != "api":
            config = msgspec.to_builtins(read_app.oidc(client))
            yield _exported(context, client, config)


async def export_api(
    context: ExportContext, organization: Organization
) -> AsyncIterator[dict[str, Any]]:
    """Yields the rows of the organization's API applications, in the order of projects and
    names."""
    async for client in _clients(context, organization):
        if client.app_type == "api":
            config = msgspec.to_builtins(read_app.api(client))
            yield _exported(context, client, config)


async def _clients(
    context: ExportContext, organization: Organization
) -> AsyncIterator[Application]:
    async for project in export_iteration.projects(context.view, organization):
        where = {"project_id": project.id}
        async for client in export_iteration.records(
            context.view, APPLICATIONS, where, order="name"
        ):
            yield client


_COMPLIANCE: Final = frozenset({"noneCompliant", "complianceProblems"})


def _exported(
    context: ExportContext, client: Application, config: dict[str, Any]
) -> dict[str, Any]:
    members = {name: value for name, value in config.items() if name not in _COMPLIANCE}
    secrets = packaged_secrets.exported(client) if context.with_passwords else {}
    state = _NAMES["inactive" if client.state == "inactive" else "active"]
    app = {"projectId": client.project_id, "name": client.name, "state": state}
    return {"appId": client.id, "app": {**app, **members, **secrets}}


OIDC: Final = RowKind(
    member="oidcApps",
    type="oidc_app",
    request=OidcRow,
    name=named("appId"),
    identity=("appId",),
    plan=plan_rows,
    export=export_oidc,
)
API: Final = RowKind(
    member="apiApps",
    type="api_app",
    request=ApiRow,
    name=named("appId"),
    identity=("appId",),
    plan=plan_rows,
    export=export_api,
)
