"""/ui/login/accounts: the account chooser."""

from __future__ import annotations

from collections.abc import Sequence

from handlers.forms import console_session
from handlers.http import hosts
from handlers.login.flow import ADDRESSES, LOGIN, FlowHandler
from handlers.pages.base import PageHandler
from idp.foundation.i18n import Message
from idp.identity.sessions.lifetime import LiveSession
from idp.identity.users import permissions
from idp.oauth.params import Params
from idp.oauth.paths import END_SESSION
from idp.oauth.sign_in import first_party_areas, remembered_accounts
from idp.oauth.sign_in import flow as sign_in_flow
from idp.oauth.sign_in.next_step import SignInPage
from idp.oauth.sign_in.pending import Flow
from idp.oauth.sign_in.remembered_accounts import RememberedAccount
from idp.start.demo_setup import PATH as DEMO


class AccountsHandler(FlowHandler):
    """The account chooser: a button for each account that this browser knows, and one for another
    account."""

    async def show(self, flow: Flow) -> None:
        step = await self.current_step(flow)
        # The page of the login name links here if the browser remembers accounts.
        is_open = step.page is SignInPage.LOGIN_NAME and bool(flow.browser.remembered)
        if step.page is SignInPage.ACCOUNTS or is_open:
            await self._ask(flow)
        else:
            self.redirect_303(self.at(LOGIN, flow))

    async def submit(self, flow: Flow, form: Params) -> None:
        account = form.get("account")
        if account == "other":
            self.redirect_303(self.at(ADDRESSES[SignInPage.LOGIN_NAME], flow))
            return
        if account:  # a session that has ended meanwhile is not picked, and no longer shown
            await sign_in_flow.pick_session(self.service, flow, account)
        elif signed_out := form.get("signedOut"):
            await remembered_accounts.pick(self.service, flow, signed_out)
        elif user_id := form.get("forget"):
            self.set_browser_cookie(await remembered_accounts.forget(self.service, flow, user_id))
        self.redirect_303(self.at(LOGIN, flow))

    async def _ask(self, flow: Flow) -> None:
        known = await remembered_accounts.listed(self.service, flow)
        app = self.bundle().text(first_party_areas.name_of(flow.client))
        self.step(
            SignInPage.ACCOUNTS, flow, accounts=[_template_values(app, one) for one in known]
        )


def _template_values(app: str, one: RememberedAccount) -> dict[str, object]:
    """Returns an account with the button that chooses it, or why it cannot be chosen."""
    live, user = one.live, one.user
    choice = ("account", live.session.id) if live else ("signedOut", user.id)
    return {
        "display_name": user.profile.display_name,
        "login_name": user.user_name,
        "choice": choice if one.fits else None,
        "refused_for": None if one.fits else app,
        "is_meant": one.fits and one.is_hinted,
        "forgotten_by": None if live else user.id,
    }


async def show_signed_in(
    handler: PageHandler, live: Sequence[LiveSession], notice: Message | None
) -> None:
    """Sends the page that lists the accounts signed in with this browser. `notice` is a text above
    the list, or None."""
    service = handler.service
    permissions_of_each = [await permissions.of_user(service, one.session.user_id) for one in live]
    # Its addresses are served under this condition only.
    has_demo = service.config.is_loopback and hosts.is_local_peer(handler.request)
    handler.page(
        "signed-in",
        notice=notice,
        accounts=[account_of(one) for one in live],
        account_url=first_party_areas.ACCOUNT.path,
        logout_url=END_SESSION,
        console_url=first_party_areas.CONSOLE.path
        if any(map(console_session.manages, permissions_of_each))
        else None,
        demo_url=DEMO if has_demo else None,
    )


def account_of(one: LiveSession) -> dict[str, object]:
    """Returns the template values of a session's account, for a list of accounts."""
    user = one.subject.user
    return {
        "id": one.session.id,
        "display_name": user.profile.display_name,
        "login_name": user.user_name,
    }


ROUTES = [(ADDRESSES[SignInPage.ACCOUNTS], AccountsHandler)]
