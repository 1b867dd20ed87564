"""/ui/login/organization: the choice of the organization in which an account is registered."""

from __future__ import annotations

from handlers.login.flow import ADDRESSES, FlowHandler
from idp.oauth.params import Params
from idp.oauth.sign_in import registration_organization
from idp.oauth.sign_in.next_step import SignInPage
from idp.oauth.sign_in.pending import PendingSignIn


class OrganizationHandler(FlowHandler):
    """Asks in which organization the account is registered, with a button for each that accepts
    registrations."""

    async def show(self, flow: PendingSignIn) -> None:
        organizations = await registration_organization.selectable(self.service, flow)
        if len(organizations) < 2:  # nothing to choose
            self.redirect_303(self.url_of(ADDRESSES[SignInPage.REGISTER], flow))
            return
        choices = [
            {
                "id": organization.id,
                "name": organization.name,
                "domain": organization.primary_domain,
            }
            for organization in organizations
        ]
        login_url = self.url_of(ADDRESSES[SignInPage.LOGIN_NAME], flow)
        self.step(SignInPage.ORGANIZATION, flow, organizations=choices, login_url=login_url)

    async def submit(self, flow: PendingSignIn, form: Params) -> None:
        is_chosen = await registration_organization.choose(
            self.service, flow, form.get("organization") or ""
        )
        page = SignInPage.REGISTER if is_chosen else SignInPage.ORGANIZATION
        self.redirect_303(self.url_of(ADDRESSES[page], flow))


ROUTES = [(ADDRESSES[SignInPage.ORGANIZATION], OrganizationHandler)]
