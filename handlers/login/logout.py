"""/ui/logout: asks before signing out, and says when it is done."""

from __future__ import annotations

from typing import Final

from handlers.login.accounts import account_of
from handlers.login.flow import LOGIN
from handlers.page import PageHandler
from idp.i18n import message
from idp.identity import sessions
from idp.oauth import logout, responses
from idp.oauth.discovery import END_SESSION
from idp.records import APPLICATIONS, Agent, LogoutRequest
from storage import Stale

LOGOUT: Final = "/ui/logout"
LOGGED_OUT: Final = "/ui/logged-out"
_TOO_LATE: Final = message(
    "This page was open for too long. Whoever was signed in still is.", context="logout"
)


class HintHandler(PageHandler):
    """Signs out whom an `id_token_hint` names."""

    async def end_hinted(self, request: LogoutRequest) -> bool:
        """End what the hint names; whether nobody has to be asked any more."""
        if request.hinted_user_id is None:
            return False
        ended = await logout.end_hinted(self.service, request, await self.find_agent())
        self.keep_cookie(ended.cookie)
        return ended.is_enough


class LogoutHandler(HintHandler):
    """Asks whether every session of this browser shall end, unless a hint has said enough."""

    async def get(self) -> None:
        request = await self._find()
        if request is None:
            return
        agent = await self.find_agent()
        if await self.end_hinted(request) or agent is None:
            self.see(done(request))
            return
        live = await sessions.find_live(self.service, agent)
        if not live:  # nobody to ask; but tokens of sessions that are only idle shall end too
            await self._end_all(agent, request)
            return
        self.page(
            "logout-confirm",
            accounts=[account_of(one) for one in live],
            hidden=self.form_token(request.id, agent),
            query=[("request", request.id)],
        )

    async def post(self) -> None:
        agent = await self.find_agent()
        request = await self._find()
        if request is None:
            return
        if agent is None:
            self.see(done(request))
            return
        form = self.page_form(request.id, agent)
        if form.get("decision") != "logout":
            self.see(_with_client(LOGIN, request))
            return
        await self._end_all(agent, request)

    async def _end_all(self, agent: Agent, request: LogoutRequest) -> None:
        try:
            self.keep_cookie(await logout.end_all(self.service, agent))
        except Stale:  # a sign-in or another logout at the same moment: look again
            self.see(self.request.uri or LOGOUT)
        else:
            self.see(done(request))

    async def _find(self) -> LogoutRequest | None:
        """The request of the address; a page says so when it is gone."""
        request_id = self.wanted_id("request")
        request = await logout.find(self.service, request_id) if request_id else None
        if request is None:
            self.page("expired", status=410, sentence=_TOO_LATE, application_url=END_SESSION)
            return None
        self.ui_locales = request.ui_locales
        if request.client_id is not None:
            self.show_client(await self.service.store.get(APPLICATIONS, request.client_id))
        if request.post_logout_redirect_uri is not None:
            self.allow_forms_to(request.post_logout_redirect_uri)
        return request


class LoggedOutHandler(PageHandler):
    """Says that it is done, and leads back to the application."""

    async def get(self) -> None:
        await self.show_wanted_client()
        self.page("logged-out")


def done(request: LogoutRequest) -> str:
    """Where the browser goes after a logout."""
    destination = logout.destination(request)
    if destination is not None:
        return destination
    return _with_client(LOGGED_OUT, request)


def _with_client(path: str, request: LogoutRequest) -> str:
    pairs = [("client_id", request.client_id)] if request.client_id else []
    return responses.append(path, pairs)


ROUTES = [(LOGOUT, LogoutHandler), (LOGGED_OUT, LoggedOutHandler)]
