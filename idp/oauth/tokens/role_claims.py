"""The claims with a user's roles in projects, and the flat list of role names."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from idp.config.settings import Config
from idp.identity.users import grant_ids
from idp.identity.users.subjects import Subject
from idp.oauth import reserved_scopes
from idp.oauth.reserved_scopes import Reserved, ReservedScopes
from idp.records import (
    ORGANIZATIONS,
    PROJECT_GRANTS,
    ROLE_ASSIGNMENTS,
    Application,
    RoleAssignment,
)
from idp.service import Service

_MAX_ASSIGNMENTS: Final = 1000
_TRIGGERS: Final = frozenset({Reserved.ROLE, Reserved.ROLES})


class RoleClaimRequest(Struct, frozen=True, kw_only=True):
    """The roles that are asked for: by scopes, by a token's audience, and by the application.

    `reader` is the application that reads the claims. Its own project is the one of the claim
    without an id, and of the flat list. With `org_id`, every project of this organization is in
    the audience, too.
    """

    reserved: ReservedScopes
    audience: Collection[str] = ()
    reader: Application | None = None
    org_id: str | None = None

    @property
    def has_role_scope(self) -> bool:
        """Whether a scope asks for roles."""
        return not _TRIGGERS.isdisjoint(self.reserved)


async def read(service: Service, subject: Subject, requested: RoleClaimRequest) -> dict[str, Any]:
    """Returns the claims with the user's roles that are asked for.

    If no scope asks for roles, they are those in the project of the reading application.
    """
    where = {"user_id": subject.user.id}
    # The limit bounds what one request reads and what one response holds.
    page = await service.store.find(ROLE_ASSIGNMENTS, where, limit=_MAX_ASSIGNMENTS)
    assignments = await _counting(
        service, [each for each in page.records if _is_requested(requested, each)]
    )
    domains = await _domains(service, subject, {each.org_id for each in assignments})
    claims: dict[str, Any] = {}
    for each in assignments:
        claims |= _claims(service.config, requested, each, domains)
    return claims


async def _counting(
    service: Service, assignments: Sequence[RoleAssignment]
) -> Sequence[RoleAssignment]:
    """Returns the assignments without those made under a project grant that was deleted or is not
    active."""
    by_grant = [each for each in assignments if each.granted_by is not None]
    if not by_grant:
        return assignments
    ids = [grant_ids.of_grant(each.project_id, each.org_id) for each in by_grant]
    grants = await service.store.get_many([(PROJECT_GRANTS, id) for id in ids])
    shut = {
        each.id
        for each, grant in zip(by_grant, grants, strict=True)
        if not grant_ids.is_in_force(each, grant)
    }
    return [each for each in assignments if each.id not in shut]


def _is_requested(requested: RoleClaimRequest, each: RoleAssignment) -> bool:
    """Returns whether a role assignment is among those asked for."""
    givers = requested.reserved.get(Reserved.ROLES_OF)
    if givers and each.org_id not in givers:
        return False
    if requested.reader is not None and each.project_id == requested.reader.project_id:
        return True
    is_of_all = Reserved.ROLES in requested.reserved or requested.reader is None
    return is_of_all and (each.project_id in requested.audience or each.org_id == requested.org_id)


def _claims(
    config: Config, requested: RoleClaimRequest, each: RoleAssignment, domains: Mapping[str, str]
) -> dict[str, Any]:
    keys = requested.reserved.get(Reserved.ROLE)
    released_keys = [key for key in each.role_keys if not keys or key in keys]
    # An organization that is not active is missing from `domains`: its roles are not released.
    if not released_keys or each.org_id not in domains:
        return {}
    roles = {key: {each.org_id: domains[each.org_id]} for key in released_keys}
    claims: dict[str, Any] = {
        reserved_scopes.claim(config, f"org:project:{each.project_id}:roles"): roles
    }
    reader = requested.reader
    if reader is not None and each.project_id == reader.project_id:
        claims[reserved_scopes.claim(config, "org:project:roles")] = roles
        if reader.groups_claim:
            claims[reader.groups_claim] = released_keys
    return claims


async def _domains(service: Service, subject: Subject, org_ids: Collection[str]) -> dict[str, str]:
    """Returns the primary domains of those organizations that are active, by their ids."""
    own = subject.organization
    others = [id for id in org_ids if id != own.id]
    records = (
        await service.store.get_many([(ORGANIZATIONS, id) for id in others]) if others else []
    )
    known = [own, *(each for each in records if each is not None)]
    return {each.id: each.primary_domain for each in known if each.state == "active"}
