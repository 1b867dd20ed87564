"""/ui/login/accounts: the account chooser."""

from __future__ import annotations

from collections.abc import Sequence

from handlers.forms import console_session
from handlers.http import hosts
from handlers.login.flow import ADDRESSES, LOGIN, FlowHandler
from handlers.pages.base import PageHandler
from idp.foundation import uris
from idp.foundation.i18n import Message
from idp.identity.sessions.lifetime import LiveSession
from idp.identity.users import permissions
from idp.oauth.params import Params
from idp.oauth.paths import END_SESSION
from idp.oauth.sign_in import first_party_areas, remembered_accounts
from idp.oauth.sign_in import flow as sign_in_flow
from idp.oauth.sign_in.next_step import SignInPage
from idp.oauth.sign_in.pending import PendingSignIn
from idp.oauth.sign_in.remembered_accounts import RememberedAccount
from idp.start.demo_setup import PATH as DEMO_PATH


class AccountsHandler(FlowHandler):
    """The account chooser: a button for each account that this browser knows, and one for another
    account. With the parameter `edit`, accounts that are signed out can be removed from it."""

    async def show(self, flow: PendingSignIn) -> None:
        step = await self.current_step(flow)
        # The page of the login name links here if the browser remembers accounts.
        is_linked_here = step.page is SignInPage.LOGIN_NAME and bool(flow.browser.remembered)
        if step.page is SignInPage.ACCOUNTS or is_linked_here:
            await self._ask(flow)
        else:
            self.redirect_303(self.url_of(LOGIN, flow))

    async def submit(self, flow: PendingSignIn, form: Params) -> None:
        account = form.get("account")
        if account == "other":
            self.redirect_303(self.url_of(ADDRESSES[SignInPage.LOGIN_NAME], flow))
            return
        if account:  # a session that has ended meanwhile is not chosen, and no longer displayed
            await sign_in_flow.pick_session(self.service, flow, account)
        elif signed_out := form.get("signedOut"):
            await remembered_accounts.pick(self.service, flow, signed_out)
        elif user_id := form.get("forget"):
            self.set_browser_cookie(await remembered_accounts.forget(self.service, flow, user_id))
            self.redirect_303(self._edit_url(flow))
            return
        self.redirect_303(self.url_of(LOGIN, flow))

    async def _ask(self, flow: PendingSignIn) -> None:
        accounts = await remembered_accounts.find_all(self.service, flow)
        application_name = self.bundle().text(first_party_areas.name_of(flow.client))
        is_edited = self.query_params().if_once("edit") is not None
        is_removable = any(account.live_session is None for account in accounts)
        accounts_url = self.url_of(ADDRESSES[SignInPage.ACCOUNTS], flow)
        self.step(
            SignInPage.ACCOUNTS,
            flow,
            accounts=[_template_values(application_name, account) for account in accounts],
            is_edited=is_edited,
            other_url=accounts_url
            if is_edited
            else self._edit_url(flow)
            if is_removable
            else None,
        )

    def _edit_url(self, flow: PendingSignIn) -> str:
        query = [*self.flow_query(flow), ("edit", "1")]
        return uris.with_parameters(ADDRESSES[SignInPage.ACCOUNTS], query)


def _template_values(application_name: str, account: RememberedAccount) -> dict[str, object]:
    """Returns an account with the button that chooses it, or the application that it cannot be
    chosen for."""
    live_session, user = account.live_session, account.user
    choice = ("account", live_session.session.id) if live_session else ("signedOut", user.id)
    return {
        "display_name": user.profile.display_name,
        "login_name": user.user_name,
        "choice": choice if account.fits else None,
        "refused_for": None if account.fits else application_name,
        "is_hinted": account.fits and account.is_hinted,
        "removal_id": None if live_session else user.id,
    }


async def show_signed_in(
    handler: PageHandler, live_sessions: Sequence[LiveSession], notice: Message | None
) -> None:
    """Sends the page that lists the accounts signed in with this browser. `notice` is a text above
    the list, or None."""
    service = handler.service
    permissions_of_each = [
        await permissions.of_user(service, live_session.session.user_id)
        for live_session in live_sessions
    ]
    # The demo application is served under this condition only.
    has_demo = service.config.is_loopback and hosts.is_local_peer(handler.request)
    handler.page(
        "signed-in",
        notice=notice,
        accounts=[account_of(live_session) for live_session in live_sessions],
        account_url=first_party_areas.ACCOUNT.path,
        logout_url=END_SESSION,
        console_url=first_party_areas.CONSOLE.path
        if any(map(console_session.may_open_console, permissions_of_each))
        else None,
        demo_url=DEMO_PATH if has_demo else None,
    )


def account_of(live_session: LiveSession) -> dict[str, object]:
    """Returns the template values of a session's account, for a list of accounts."""
    user = live_session.subject.user
    return {
        "id": live_session.session.id,
        "display_name": user.profile.display_name,
        "login_name": user.user_name,
    }


ROUTES = [(ADDRESSES[SignInPage.ACCOUNTS], AccountsHandler)]
