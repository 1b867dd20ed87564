"""The choice of the organization that a new account belongs to: every user belongs to exactly one.

A scope that names one leaves no choice. Otherwise it is the application's; where the login hint
has the domain of another one, or users of others are signed in in this browser, the person
chooses.
"""

from __future__ import annotations

from idp.identity.users import registration
from idp.identity.users.registration import Closed
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
        (organization,) = await flow.known.get_many(service, [(ORGANIZATIONS, chosen)])
        is_active = organization is not None and organization.state == "active"
        return organization if is_active else None
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
    open_ids = [
        id for id in dict.fromkeys(ids) if id is not None and not await _closed(service, flow, id)
    ]
    found = await flow.known.get_many(service, [(ORGANIZATIONS, id) for id in open_ids])
    return [one for one in found if one is not None and one.state == "active"]


async def is_closed(service: Service, flow: Flow) -> bool:
    """Returns whether the policy lets no user register in this flow.

    False also if registration is not possible only because no mail can be sent.
    """
    if await among(service, flow):
        return False
    return await _closed(service, flow, flow.client.org_id) != "no_mail"


async def choose(service: Service, flow: Flow, org_id: str) -> bool:
    """Stores the person's choice of an organization; returns False if they may not register there.

    Raises `Stale` when the flow was answered.
    """
    if org_id not in [one.id for one in await among(service, flow)]:
        return False
    await update_request(service, flow, home_org_id=org_id)
    return True


async def _closed(service: Service, flow: Flow, org_id: str) -> Closed | None:
    rules = await flow.known.login_rules(service, org_id)
    return registration.closed_by(service.config, rules)
