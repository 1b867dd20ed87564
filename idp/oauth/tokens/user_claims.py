"""The claims about a user that scopes release, both OpenID Connect's and the reserved scopes'."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

import msgspec

from idp.config.settings import Config
from idp.identity.users import published_names
from idp.identity.users.subjects import Subject
from idp.oauth import reserved_scopes
from idp.oauth.reserved_scopes import Reserved, ReservedScopes
from idp.oauth.tokens import group_claims, role_claims, standard_claims
from idp.oauth.tokens.role_claims import RoleClaimRequest
from idp.oauth.tokens.standard_claims import UserView
from idp.records import USER_METADATA, Application, User
from idp.service import Service

MAX_METADATA: Final = 100
MAX_METADATA_CHARACTERS: Final = 1_000_000
_MAX_BYTES_IN_TOKEN: Final = 5 * 1024
_ORGANIZATION_SCOPES: Final = (Reserved.RESOURCE_OWNER, Reserved.ORGANIZATION, Reserved.DOMAIN)


async def released(
    service: Service,
    subject: Subject,
    scopes: Sequence[str],
    *,
    audience: Collection[str],
    reader: Application | None,
    reader_org_id: str | None,
    org_id: str | None = None,
) -> dict[str, Any]:
    """Returns the claims about a user that `scopes` release to `reader`, the application that
    reads them, None if it is none.

    `audience` is that of the token. `reader_org_id` is the organization of the reading party:
    contacts that only the user's organization states to be verified are so for that organization
    alone. With `org_id`, every project of that organization is treated as in the audience.
    """
    reserved = reserved_scopes.read(service.config, scopes)
    if not reserved and group_claims.SCOPE not in scopes:
        return standard_claims.for_scopes(
            await view(service, subject, scopes, reader_org_id), scopes
        )
    requested = RoleClaimRequest(
        reserved=reserved, audience=audience, reader=reader, org_id=org_id
    )
    # Independent reads, made at the same time.
    user_view, roles, metadata, groups = await asyncio.gather(
        view(service, subject, scopes, reader_org_id),
        _roles(service, subject, requested),
        _metadata(service, subject.user, reserved),
        group_claims.released(service, subject, scopes),
    )
    claims = standard_claims.for_scopes(user_view, scopes) | _resource_owner(
        service.config, subject, reserved
    )
    # An application may have chosen the name `groups` for its list of roles.
    return {**claims, **groups, **roles, **metadata}


async def view(
    service: Service, subject: Subject, scopes: Collection[str], reader_org_id: str | None
) -> UserView:
    """Returns the user as the claims for an application of the organization `reader_org_id`
    present them.

    `scopes` are those whose claims are released: the name to display is read only if `profile` is
    among them.
    """
    name = subject.user.user_name
    if "profile" in scopes:
        name = await published_names.preferred(service, subject.organization, name)
    return UserView(subject.user, name, reader_org_id)


def within_size_limit(claims: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the claims for a token, which has to fit into an HTTP header.

    If all together are too large, only those of OpenID Connect remain. Userinfo has them all.
    """
    if len(msgspec.json.encode(claims)) <= _MAX_BYTES_IN_TOKEN:
        return claims
    return {name: value for name, value in claims.items() if name in standard_claims.SUPPORTED}


async def _roles(
    service: Service, subject: Subject, requested: RoleClaimRequest
) -> dict[str, Any]:
    return await role_claims.read(service, subject, requested) if requested.has_role_scope else {}


async def _metadata(service: Service, user: User, reserved: ReservedScopes) -> dict[str, Any]:
    """Returns the first entries by their keys, as many as a response can hold."""
    if Reserved.METADATA not in reserved:
        return {}
    where = {"user_id": user.id}
    page = await service.store.find(USER_METADATA, where, order="key", limit=MAX_METADATA)
    entries: dict[str, str] = {}
    remaining_characters = MAX_METADATA_CHARACTERS
    for entry in page.records:
        remaining_characters -= len(entry.value)
        # An entry that does not fit is left out whole: half of a value would be a wrong one.
        if remaining_characters >= 0:
            entries[entry.key] = _url_safe(entry.value)
    name = reserved_scopes.claim(service.config, Reserved.METADATA)
    return {name: entries} if entries else {}


def _url_safe(value: str) -> str:
    """Converts standard base64 to base64url without padding."""
    return value.rstrip("=").replace("+", "-").replace("/", "_")


def _resource_owner(config: Config, subject: Subject, reserved: ReservedScopes) -> dict[str, Any]:
    if not any(kind in reserved for kind in _ORGANIZATION_SCOPES):
        return {}
    prefix = reserved_scopes.claim(config, Reserved.RESOURCE_OWNER)
    organization = subject.organization
    return {
        f"{prefix}:id": organization.id,
        f"{prefix}:name": organization.name,
        f"{prefix}:primary_domain": organization.primary_domain,
    }
