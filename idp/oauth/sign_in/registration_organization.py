"""The choice of the organization that a new account belongs to: every user belongs to exactly one.

A scope that names one leaves no choice. Otherwise it is the application's; where the login hint
has the domain of another one, or users of others are signed in in this browser, the person
chooses.
"""

from __future__ import annotations

from idp.identity.users import registration
from idp.identity.users.registration import ClosedReason
from idp.oauth.sign_in import page_branding
from idp.oauth.sign_in.flow import update_request
from idp.oauth.sign_in.pending import PendingSignIn
from idp.records import ORGANIZATIONS, Organization
from idp.service import Service


async def find(service: Service, flow: PendingSignIn) -> Organization | None:
    """Returns the organization of the new account: the one that the person chose, or the only one.

    None while there are several to choose from, or if there is none.
    """
    chosen = flow.request.home_org_id
    if chosen is not None:
        (organization,) = await flow.known_records.get_many(service, [(ORGANIZATIONS, chosen)])
        is_active = organization is not None and organization.state == "active"
        return organization if is_active else None
    organizations = await selectable(service, flow)
    return organizations[0] if len(organizations) == 1 else None


async def selectable(service: Service, flow: PendingSignIn) -> list[Organization]:
    """Returns the organizations in which a person may register in this flow."""
    request, client_org_id = flow.request, flow.client.org_id
    if page_branding.is_fixed(service, request):
        ids = [request.brand_org_id]
    else:
        session_org_ids = [record.subject.organization.id for record in flow.all_live_sessions]
        ids = [client_org_id, request.brand_org_id, *session_org_ids]
    open_ids = [
        id for id in dict.fromkeys(ids) if id is not None and not await _closed(service, flow, id)
    ]
    organizations = await flow.known_records.get_many(
        service, [(ORGANIZATIONS, id) for id in open_ids]
    )
    return [record for record in organizations if record is not None and record.state == "active"]


async def is_closed(service: Service, flow: PendingSignIn) -> bool:
    """Returns whether the policy lets no user register in this flow.

    False also if registration is not possible only because no mail can be sent.
    """
    if await selectable(service, flow):
        return False
    return await _closed(service, flow, flow.client.org_id) != "no_mail"


async def choose(service: Service, flow: PendingSignIn, org_id: str) -> bool:
    """Stores the person's choice of an organization; returns False if they may not register there.

    Raises `Stale` when the flow was answered.
    """
    if org_id not in [organization.id for organization in await selectable(service, flow)]:
        return False
    await update_request(service, flow, home_org_id=org_id)
    return True


async def _closed(service: Service, flow: PendingSignIn, org_id: str) -> ClosedReason | None:
    rules = await flow.known_records.login_rules(service, org_id)
    return registration.closed_reason_by_rules(service.config, rules)
