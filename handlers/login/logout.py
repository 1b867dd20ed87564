"""/ui/logout: asks before signing out, and confirms it.

The confirmation loads the front-channel logout addresses of applications in frames, then redirects
to the address that the request named.
"""

from __future__ import annotations

from typing import Final

from handlers.http.base import ResponseSent
from handlers.login.accounts import account_of
from handlers.login.flow import LOGIN
from handlers.pages.base import PageHandler
from idp.foundation import uris
from idp.foundation.i18n import message
from idp.identity.sessions import browsers
from idp.identity.sessions import lifetime as session_lifetime
from idp.oauth.endpoints import end_session, front_channel
from idp.oauth.paths import END_SESSION
from idp.records import Browser, LogoutRequest
from storage import Conflict, Stale

LOGOUT: Final = "/ui/logout"
LOGGED_OUT: Final = "/ui/logged-out"
LOGOUT_REDIRECT: Final = "/ui/logged-out/onward"
FRAMES_SECONDS: Final = 3  # the time that the applications in frames get
_TOO_LATE: Final = message(
    "This page was open for too long. No account was signed out.", context="logout"
)


class HintHandler(PageHandler):
    """The base of the pages that end the sessions of the user whom an `id_token_hint` names."""

    async def end_hinted(self, request: LogoutRequest) -> LogoutRequest | None:
        """Ends the sessions of the hinted user in this browser and returns the logout request as
        it was stored then, with the ids of the ended sessions; None if nothing was ended and the
        person has to be asked."""
        if request.hinted_user_id is None:
            return None
        browser = await self.find_browser()
        ended = await end_session.end_hinted(self.service, request, browser)
        if ended is None:
            return None
        self.set_browser_cookie(ended.cookie)
        return ended.request


class LogoutHandler(HintHandler):
    """Asks whether all sessions of this browser are to end, unless an `id_token_hint` was enough
    to end them."""

    async def get(self) -> None:
        request = await self._find()
        browser = await self.find_browser()
        ended = await self.end_hinted(request)
        if ended is not None or browser is None or not browsers.is_stored(browser):
            self.redirect_303(result_url(ended or request))
            return
        live_sessions = await session_lifetime.find_live(self.service, browser)
        # Without a live session there is nothing to ask, but tokens of idle sessions end too.
        if not live_sessions:
            await self._end_all(browser, request)
            return
        self.page(
            "logout-confirm",
            accounts=[account_of(live_session) for live_session in live_sessions],
            hidden=self.form_token(request.id, browser),
            query=[("request", self.requested_pending_id("request") or "")],
        )

    async def post(self) -> None:
        browser = await self.find_browser()
        request = await self._find()
        if browser is None and await self._follow_if_repeated(request):
            return
        # A browser without a record has no sessions to end.
        if browser is None or not browsers.is_stored(browser):
            self.redirect_303(result_url(request))
            return
        form = self.page_form(request.id, browser)
        if form.get("decision") != "logout":
            self.redirect_303(_with_client(LOGIN, request))
            return
        await self._end_all(browser, request)

    async def _end_all(self, browser: Browser, request: LogoutRequest) -> None:
        try:
            ended = await end_session.end_all(self.service, request, browser)
        # The same form; or a concurrent sign-in or logout: read the state again.
        except (Stale, Conflict):
            if self.request.method != "POST" or not await self._follow_if_repeated(request):
                self.redirect_303(self.request.uri or LOGOUT)
        else:
            self.set_browser_cookie(ended.cookie)
            self.redirect_303(result_url(ended.request))

    async def _follow_if_repeated(self, request: LogoutRequest) -> bool:
        """Returns whether this form has ended the sessions already; if so, it is answered as it
        was then: applications are called through the browser only by that answer."""
        cookie = await self.repeat_cookie()
        if cookie is None:
            return False
        ended = await end_session.find_ended(self.service, cookie)
        self.redirect_303(result_url(ended or request))
        return True

    async def _find(self) -> LogoutRequest:
        """Returns the request of the address. Raises ResponseSent if it has expired."""
        address = self.requested_pending_id("request")
        request = await end_session.find(self.service, address) if address else None
        if request is None:
            self.show_expired(sentence=_TOO_LATE, application_url=END_SESSION)
            raise ResponseSent
        self.ui_locales = request.ui_locales
        await self.show_client_of(request.client_id)
        if request.post_logout_redirect_uri is not None:
            self.let_forms_leave()
        return request


class LogoutResultHandler(PageHandler):
    """The base of the pages after a logout, which find the logout request that the address
    names."""

    async def find_request(self) -> LogoutRequest | None:
        request_id = self.requested_id("request")
        return await end_session.find(self.service, request_id) if request_id else None


class LoggedOutHandler(LogoutResultHandler):
    """Confirms the logout, and loads the applications' front-channel logout addresses in frames.
    Redirects after some seconds if the request named an address."""

    async def get(self) -> None:
        request = await self.find_request()
        if request is None:
            await self.show_requested_client()
            self.page("logged-out", frames=[], redirect_url=None)
            return
        self.ui_locales = request.ui_locales
        await self.show_client_of(request.client_id)
        frames = await front_channel.frames(self.service, request.ended_session_ids)
        self.allow_frames(*frames)
        redirect_url = None
        if end_session.destination(request) is not None:
            redirect_url = uris.with_parameters(LOGOUT_REDIRECT, [("request", request.id)])
            # By a header, so that the page needs no script.
            self.set_header("Refresh", f"{FRAMES_SECONDS};url={redirect_url}")
        self.page("logged-out", frames=frames, redirect_url=redirect_url)


class LogoutRedirectHandler(LogoutResultHandler):
    """Redirects to the registered address that the logout request named."""

    async def get(self) -> None:
        request = await self.find_request()
        self.redirect_303((end_session.destination(request) if request else None) or LOGGED_OUT)


def result_url(request: LogoutRequest) -> str:
    """Returns the address to which the browser is redirected after the logout: the
    page that loads front-channel logout addresses if sessions were ended, else the address that
    the request named, or else the page that confirms the logout."""
    if request.ended_session_ids:
        return uris.with_parameters(LOGGED_OUT, [("request", request.id)])
    destination = end_session.destination(request)
    if destination is not None:
        return destination
    return _with_client(LOGGED_OUT, request)


def _with_client(path: str, request: LogoutRequest) -> str:
    pairs = [("client_id", request.client_id)] if request.client_id else []
    return uris.with_parameters(path, pairs)


ROUTES = [
    (LOGOUT, LogoutHandler),
    (LOGGED_OUT, LoggedOutHandler),
    (LOGOUT_REDIRECT, LogoutRedirectHandler),
]
