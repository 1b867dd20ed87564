"""The base of the service's own pages for a signed-in person: account and console."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar
from urllib.parse import urlencode

from msgspec import Struct

from handlers.http import browser
from handlers.http.base import ResponseSent
from handlers.pages.base import PageHandler
from idp.identity.sessions import lifetime as session_lifetime
from idp.identity.sessions.lifetime import LiveSession
from idp.identity.users.subjects import Subject
from idp.oauth.sign_in import first_party_sign_in
from idp.oauth.sign_in.first_party_areas import OwnPages
from idp.records import Browser, Session, User


class SignedIn(Struct, frozen=True):
    """The signed-in person and the browser; `several` if it has other valid sessions."""

    agent: Browser
    live: LiveSession
    several: bool

    @property
    def session(self) -> Session:
        return self.live.session

    @property
    def subject(self) -> Subject:
        return self.live.subject

    @property
    def user(self) -> User:
        return self.live.subject.user


class OwnPageHandler(PageHandler):
    """A page of the service for a signed-in person; others are redirected to a sign-in and back.
    If the browser has several sessions, one is chosen for all these pages."""

    area: ClassVar[OwnPages]

    async def find_person(self) -> SignedIn:
        """Returns the signed-in person. Raises ResponseSent if there is none, or if one of several
        has to be chosen, after a redirect to a sign-in or the account chooser."""
        agent = await self.find_agent()
        live = await session_lifetime.find_live(self.service, agent)
        self._store_choice(live)
        chosen = choose(live, self.get_cookie(self._choice_cookie))
        if (agent is None or chosen is None) and self.request.method == "POST":
            # A parallel request may have replaced the browser's cookie; the redirected GET is sent
            # with the new one.
            self.redirect_instead(self.request.uri or self.area.path)
        if agent is None or chosen is None:
            await self.sign_in(agent, prompt=("select_account",) if len(live) > 1 else ())
            raise ResponseSent
        return SignedIn(agent=agent, live=chosen, several=len(live) > 1)

    async def require_recent(self, person: SignedIn, seconds: int) -> None:
        """Raises ResponseSent if the person did not authenticate within the last `seconds`, after
        a redirect to a new sign-in of that user."""
        if not session_lifetime.is_recent(person.session, seconds, self.service.clock.now()):
            await self.sign_in(person.agent, max_age=seconds, user_id=person.user.id)
            raise ResponseSent

    async def sign_in(self, agent: Browser | None, to: str = "", **how: Any) -> None:
        """Redirects to a sign-in that returns to `to`, by default to this page."""
        to = to or self.request.uri or self.area.path
        begun = await first_party_sign_in.begin(
            self.service, self.area, to, agent, self.origin(), **how
        )
        self.keep_cookie(begun.cookie)
        pairs = {"flow": begun.address, "client_id": self.area.id}
        self.see(f"/ui/login?{urlencode(pairs)}")

    def _store_choice(self, live: Sequence[LiveSession]) -> None:
        """Stores the session that the account chooser added to the address. Raises ResponseSent if
        it added one, after a redirect to the address without it."""
        wanted = self.wanted_id("session")
        if wanted is None:
            return
        is_known = any(one.session.id == wanted for one in live)
        # A link of another site must not choose the person.
        if is_known and not browser.is_cross_site(self.service.config, self.request):
            self.remember_person(wanted)
        pairs = [pair for pair in self.query_params().pairs() if pair[0] != "session"]
        self.redirect_instead(self.request.path + ("?" + urlencode(pairs) if pairs else ""))

    def remember_person(self, session_id: str) -> None:
        """Stores in a cookie which session these pages use in this browser."""
        header = browser.cookie_header(self.service.config, self._choice_cookie, session_id)
        self.add_header("Set-Cookie", header)

    @property
    def _choice_cookie(self) -> str:
        return browser.cookie_name(self.service.config, "person")


def choose(live: Sequence[LiveSession], session_id: str | None) -> LiveSession | None:
    """Returns the session that was chosen in this browser, or the only one, or None."""
    named = [one for one in live if one.session.id == session_id]
    return named[0] if named else live[0] if len(live) == 1 else None
