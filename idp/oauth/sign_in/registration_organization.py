"""The choice of the organization that a new account belongs to: every user belongs to exactly one.

A scope that names one leaves no choice. Otherwise it is the application's; where the login hint
has the domain of another one, or users of others are signed in in this browser, the person
chooses.
"""

from __future__ import annotations

from idp.identity.users import registration
from idp.oauth.sign_in import page_branding
from idp.oauth.sign_in.flow import update_request
from idp.oauth.sign_in.pending import Flow
from idp.records import ORGANIZATIONS, Organization
from idp.service import Service


async def find(service: Service, flow: Flow) -> Organization | None:
    """Returns the organization of the new account: the one that the person chose, or the only one.

    None while there are several to choose from, or if there is none.
    """
    chosen = flow.request.home_org_id
    if chosen is not None:
        return await _active(service, chosen)
    organizations = await among(service, flow)
    return organizations[0] if len(organizations) == 1 else None


async def among(service: Service, flow: Flow) -> list[Organization]:
    """Returns the organizations in which a person may register in this flow."""
    request, asks = flow.request, flow.client.org_id
    if page_branding.is_fixed(service, request):
        ids = [request.brand_org_id]
    else:
        here = [one.subject.organization.id for one in flow.everybody]
        ids = [asks, request.brand_org_id, *here]
    organizations = [await _active(service, id) for id in dict.fromkeys(ids) if id is not None]
    return [
        one
        for one in organizations
        if one is not None and await registration.closed(service, one.id) is None
    ]


async def is_closed(service: Service, flow: Flow) -> bool:
    """Returns whether the policy lets no user register in this flow.

    False also if registration is not possible only because no mail can be sent.
    """
    if await among(service, flow):
        return False
    return await registration.closed(service, flow.client.org_id) != "no_mail"


async def choose(service: Service, flow: Flow, org_id: str) -> bool:
    """Stores the person's choice of an organization; returns False if they may not register there.

    Raises `Stale` when the flow was answered.
    """
    if org_id not in [one.id for one in await among(service, flow)]:
        return False
    await update_request(service, flow, home_org_id=org_id)
    return True


async def _active(service: Service, org_id: str) -> Organization | None:
    organization = await service.store.get(ORGANIZATIONS, org_id)
    return organization if organization is not None and organization.state == "active" else None
