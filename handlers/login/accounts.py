"""/ui/login/accounts: the choice among the people who are signed in with this browser."""

from __future__ import annotations

from collections.abc import Sequence

from handlers.console import visits
from handlers.console.sections import CONSOLE
from handlers.login.flow import ADDRESSES, LOGIN, FlowHandler
from handlers.page import PageHandler
from idp.demo_setup import PATH as DEMO
from idp.i18n import Message
from idp.identity import permissions
from idp.identity.sessions import LiveSession
from idp.oauth import own_areas, sign_in_flow
from idp.oauth.endpoints import END_SESSION
from idp.oauth.interaction import Page
from idp.oauth.params import Params
from idp.oauth.sign_in_flow import Flow


class AccountsHandler(FlowHandler):
    """One button for each session, and one for somebody else."""

    async def show(self, flow: Flow) -> None:
        step = await self.current_step(flow)
        if step is None:
            return
        if step.page is Page.ACCOUNTS:
            self._ask(flow)
        else:
            self.see(self.at(LOGIN, flow))

    async def submit(self, flow: Flow, form: Params) -> None:
        account = form.get("account")
        if account == "other":
            self.see(self.at(ADDRESSES[Page.LOGIN_NAME], flow))
            return
        if account:  # one that has ended meanwhile is not picked, and no longer shown
            await sign_in_flow.pick_session(self.service, flow, account)
        self.see(self.at(LOGIN, flow))

    def _ask(self, flow: Flow) -> None:
        self.step(Page.ACCOUNTS, flow, accounts=[account_of(one) for one in flow.live])


async def show_signed_in(
    handler: PageHandler, live: Sequence[LiveSession], notice: Message | None
) -> None:
    """Answer with the page that says who is signed in with this browser."""
    service = handler.service
    found = [await permissions.of_user(service, one.session.user_id) for one in live]
    handler.page(
        "signed-in",
        notice=notice,
        accounts=[account_of(one) for one in live],
        account_url=own_areas.ACCOUNT.path,
        logout_url=END_SESSION,
        console_url=CONSOLE if any(map(visits.manages, found)) else None,
        demo_url=DEMO if service.config.is_loopback else None,
    )


def account_of(one: LiveSession) -> dict[str, object]:
    """A session as the list of accounts shows it."""
    user = one.subject.user
    return {
        "id": one.session.id,
        "display_name": user.profile.display_name,
        "login_name": user.user_name,
    }


ROUTES = [(ADDRESSES[Page.ACCOUNTS], AccountsHandler)]
