"""The claims with a user's roles in projects, and the flat list of role names."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from typing import Any, Final, TypeAlias

from msgspec import Struct

from idp.config.settings import Config
from idp.identity.users import grant_ids
from idp.identity.users.subjects import Subject
from idp.oauth import reserved_scopes
from idp.oauth.reserved_scopes import Reserved, ReservedScopes
from idp.oauth.tokens import group_roles
from idp.records import (
    ORGANIZATIONS,
    PROJECT_GRANTS,
    ROLE_ASSIGNMENTS,
    Application,
    RoleAssignment,
)
from idp.records.groups import GroupGrant
from idp.service import Service

_MAX_ASSIGNMENTS: Final = 1000
_RoleRecord: TypeAlias = RoleAssignment | GroupGrant
_TRIGGERS: Final = frozenset({Reserved.ROLE, Reserved.ROLES})


class RoleClaimRequest(Struct, frozen=True, kw_only=True):
    """The requested roles: by scopes, by a token's audience, and by the application.

    `reader` is the application that reads the claims. Its own project is the one of the claim
    without an id, and of the flat list. With `org_id`, every project of this organization is in
    the audience, too.
    """

    reserved: ReservedScopes
    audience: Collection[str] = ()
    reader: Application | None = None
    org_id: str | None = None

    @property
    def requests_all(self) -> bool:
        """Whether the roles in other projects than the reading application's are requested."""
        return Reserved.ROLES in self.reserved or self.reader is None

    @property
    def projects(self) -> Collection[str]:
        """The ids of the projects whose roles are requested; other ids may be among them."""
        own = [self.reader.project_id] if self.reader is not None else []
        return {*own, *self.audience} if self.requests_all else own

    @property
    def has_role_scope(self) -> bool:
        """Whether a scope requests roles."""
        return not _TRIGGERS.isdisjoint(self.reserved)


async def read(service: Service, subject: Subject, requested: RoleClaimRequest) -> dict[str, Any]:
    """Returns the claims with the user's requested roles: those assigned to the user and
    those of the user's groups.

    If no scope requests roles, they are those in the project of the reading application.
    """
    user_id = subject.user.id
    page, of_groups = await asyncio.gather(
        # The limit bounds what one request reads and what one response holds.
        service.store.find(ROLE_ASSIGNMENTS, {"user_id": user_id}, limit=_MAX_ASSIGNMENTS),
        group_roles.granted(
            service, user_id, requested.projects, of_all=requested.org_id is not None
        ),
    )
    role_records: list[_RoleRecord] = [*page.records, *of_groups]
    role_records = await _in_force(
        service, [each for each in role_records if _is_requested(requested, each)]
    )
    domains = await _domains(service, subject, {each.org_id for each in role_records})
    claims: dict[str, Any] = {}
    for each in role_records:
        # Roles of an organization that is not active are not released.
        if each.org_id in domains:
            _add(claims, service.config, requested, each, domains[each.org_id])
    return claims


async def _in_force(service: Service, role_records: Sequence[_RoleRecord]) -> list[_RoleRecord]:
    """Returns the roles without those held under a project grant that was deleted or is not
    active."""
    by_grant = [each for each in role_records if each.granted_by is not None]
    if not by_grant:
        return list(role_records)
    ids = [grant_ids.of_grant(each.project_id, each.org_id) for each in by_grant]
    grants = await service.store.get_many([(PROJECT_GRANTS, grant_id) for grant_id in ids])
    inactive_ids = {
        each.id
        for each, grant in zip(by_grant, grants, strict=True)
        if not grant_ids.is_in_force(each, grant)
    }
    return [each for each in role_records if each.id not in inactive_ids]


def _is_requested(requested: RoleClaimRequest, record: _RoleRecord) -> bool:
    """Returns whether the roles of a record are requested."""
    org_ids = requested.reserved.get(Reserved.ROLES_OF)
    if org_ids and record.org_id not in org_ids:
        return False
    return record.project_id in requested.projects or (
        requested.requests_all and record.org_id == requested.org_id
    )


def _add(
    claims: dict[str, Any],
    config: Config,
    requested: RoleClaimRequest,
    record: _RoleRecord,
    domain: str,
) -> None:
    """Adds the roles in `record` to the claims; `domain` is that of the organization that
    assigned them."""
    keys = requested.reserved.get(Reserved.ROLE)
    released_keys = [key for key in record.role_keys if not keys or key in keys]
    if not released_keys:
        return
    names = [f"org:project:{record.project_id}:roles"]
    reader = requested.reader
    if reader is not None and record.project_id == reader.project_id:
        names.append("org:project:roles")
        if reader.groups_claim:
            claimed_keys = claims.setdefault(reader.groups_claim, [])
            claimed_keys += [key for key in released_keys if key not in claimed_keys]
    for name in names:
        roles = claims.setdefault(reserved_scopes.claim(config, name), {})
        for key in released_keys:
            roles.setdefault(key, {})[record.org_id] = domain


async def _domains(service: Service, subject: Subject, org_ids: Collection[str]) -> dict[str, str]:
    """Returns the primary domains of those organizations that are active, by their ids."""
    own = subject.organization
    other_org_ids = [org_id for org_id in org_ids if org_id != own.id]
    records = (
        await service.store.get_many([(ORGANIZATIONS, org_id) for org_id in other_org_ids])
        if other_org_ids
        else []
    )
    domains = [own, *(each for each in records if each is not None)]
    return {each.id: each.primary_domain for each in domains if each.state == "active"}
