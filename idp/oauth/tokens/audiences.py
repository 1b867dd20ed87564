"""The audience (`aud`) of an access token, and the scopes that have an effect on it.

A client that requests a project's audience gets tokens that the project's applications accept. So
a scope that names a project has an effect only for projects of the client's own organization; the
service's own API is for service users, and for applications with `has_management_access`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from msgspec import Struct

from idp.config.settings import Config
from idp.oauth import reserved_scopes, scopes
from idp.records import APPLICATIONS, PROJECTS, Application, Authorization, Project, User
from idp.service import Service

MAX_API_APPLICATIONS: Final = 20
MAX_PROJECTS: Final = 20  # per request, as each is a record to read


class AudienceAndScopes(Struct, frozen=True):
    """The audience of a token, and the granted scopes."""

    audience: list[str]
    scopes: list[str]


async def of_application(
    service: Service, client: Application, requested: Sequence[str]
) -> AudienceAndScopes:
    """Returns the audience and scopes of a user's tokens for this client.

    The audience is the client, its project, that project's active API applications (at most
    `MAX_API_APPLICATIONS`), and what the `requested` scopes name.
    """
    apis = await api_applications(service, client)
    granted = await of_application_itself(service, client, requested)
    # The API applications go between the first two, the client and its project, and those that
    # scopes name.
    own, named_audience = granted.audience[:2], granted.audience[2:]
    api_ids = [each.id for each in apis if each.state == "active"]
    return AudienceAndScopes(
        list(dict.fromkeys([*own, *api_ids, *named_audience])), granted.scopes
    )


async def api_applications(service: Service, client: Application) -> list[Application]:
    """Returns the API applications of the client's project, at most `MAX_API_APPLICATIONS`, active
    or not."""
    apis = {"project_id": client.project_id, "app_type": "api"}
    return (await service.store.find(APPLICATIONS, apis, limit=MAX_API_APPLICATIONS)).records


async def of_application_itself(
    service: Service, client: Application, requested: Sequence[str]
) -> AudienceAndScopes:
    """Returns the audience and scopes of a client's tokens for itself (RFC 6749 4.4).

    The audience is the client, its project's id, which every application of the project accepts,
    and what the `requested` scopes name. Nothing is read where they name nothing.
    """
    may_have = scopes.grantable(service.config, client, requested)
    own = [client.id, client.project_id]
    named_scopes = await _named(service, client.org_id, own, may_have)
    return AudienceAndScopes(
        list(dict.fromkeys([*own, *named_scopes.audience])), named_scopes.scopes
    )


async def of_service_user(
    service: Service, user: User, requested: Sequence[str]
) -> AudienceAndScopes:
    """Returns the audience and scopes of a service user's tokens.

    The audience is the user and what the `requested` scopes name; where they name nothing, it is
    the service and the user.
    """
    names_none = not any(reserved_scopes.audience(service.config, scope) for scope in requested)
    if names_none:
        return AudienceAndScopes([service.config.issuer, user.id], list(requested))
    named_scopes = await _named(service, user.org_id, [], requested)
    return AudienceAndScopes([user.id, *named_scopes.audience], named_scopes.scopes)


def narrowed(
    config: Config,
    client: Application,
    authorization: Authorization,
    remaining_scopes: Collection[str],
) -> list[str]:
    """Returns the audience of `authorization` for a token that has only its scopes
    `remaining_scopes`.

    Projects that only the other scopes name are left out.
    """
    removed_audience = {
        reserved_scopes.audience(config, scope)
        for scope in authorization.scopes
        if scope not in remaining_scopes
        # The client's own project is in the audience whether a scope named it or not.
    } - {client.project_id}
    return [each for each in authorization.audience if each not in removed_audience]


async def _named(
    service: Service, org_id: str, own: Collection[str], requested: Sequence[str]
) -> AudienceAndScopes:
    """Returns what the audience scopes name, and `requested` without those of them that have no
    effect."""
    config = service.config
    audience_by_scope = {scope: reserved_scopes.audience(config, scope) for scope in requested}
    # None is the audience of a scope that names none. Whether the issuer's may be requested is
    # decided before (`scopes.grantable`).
    always_allowed = {None, config.issuer, *own}
    foreign = [
        each
        for each in audience_by_scope.values()
        if each is not None and each not in always_allowed
    ]
    projects = await _projects(service, foreign[:MAX_PROJECTS])
    effective = always_allowed | {project.id for project in projects if project.org_id == org_id}
    remaining_scopes = [scope for scope in requested if audience_by_scope[scope] in effective]
    return AudienceAndScopes(
        [each for scope in remaining_scopes if (each := audience_by_scope[scope])],
        remaining_scopes,
    )


async def _projects(service: Service, ids: Sequence[str]) -> list[Project]:
    if not ids:
        return []
    records = await service.store.get_many([(PROJECTS, project_id) for project_id in ids])
    return [project for project in records if project is not None]
