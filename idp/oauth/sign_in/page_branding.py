"""The choice of the organization whose branding the pages of a sign-in have.

It is made when the sign-in begins, and stored with it. A reserved scope that names an organization
comes first, then the domain of the login hint, then the organization of the application.
"""

from __future__ import annotations

from msgspec import structs

from idp.identity.users import org_domains
from idp.oauth import reserved_scopes
from idp.oauth.reserved_scopes import Reserved, ReservedScopes
from idp.records import ORGANIZATIONS, Application, AuthRequest
from idp.service import Service


async def with_branding(service: Service, request: AuthRequest) -> AuthRequest:
    """Returns the request with `brand_org_id` set to the organization whose branding its pages
    have.

    The field stays None if this is the client's own organization.
    """
    if is_fixed(service, request):
        # Such a scope decides alone: without an active organization the hint is not read either.
        org_id = await _from_scopes(service, reserved_scopes.read(service.config, request.scopes))
    else:
        org_id = await _from_hint(service, request.login_hint)
    return structs.replace(request, brand_org_id=org_id) if org_id else request


def is_fixed(service: Service, request: AuthRequest) -> bool:
    """Returns whether a reserved scope lets only users of one organization sign in."""
    reserved = reserved_scopes.read(service.config, request.scopes)
    return Reserved.ORGANIZATION in reserved or Reserved.DOMAIN in reserved


def sign_in_org_id(service: Service, request: AuthRequest, client: Application) -> str:
    """Returns the id of the organization whose own login names are valid in the sign-in.

    It is that of a reserved scope, or otherwise the application's.
    """
    if is_fixed(service, request) and request.brand_org_id:
        return request.brand_org_id
    return client.org_id


async def _from_scopes(service: Service, reserved: ReservedScopes) -> str | None:
    """Returns the active organization that a scope names; the first of several."""
    for id in reserved.get(Reserved.ORGANIZATION, ()):
        organization = await service.store.get(ORGANIZATIONS, id)
        if organization is not None and organization.state == "active":
            return organization.id
    for domain in reserved.get(Reserved.DOMAIN, ()):
        if org_id := await org_domains.owner(service, domain):
            return org_id
    return None


async def _from_hint(service: Service, hint: str | None) -> str | None:
    """Returns the organization that has verified the domain of this login name as its own."""
    domain = (hint or "").rpartition("@")[2] if "@" in (hint or "") else ""
    return await org_domains.owner(service, domain) if _is_plain(domain) else None


def _is_plain(domain: str) -> bool:
    return 0 < len(domain) <= 253 and domain.isprintable()
