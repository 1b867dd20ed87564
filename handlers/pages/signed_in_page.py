"""Finds the person who is signed in to the account pages or the console.

A browser without a session is redirected to a sign-in, which returns to the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from msgspec import Struct

from handlers.http import browser
from handlers.http.base import ResponseSent
from handlers.pages.base import PageHandler
from idp.config.settings import Config
from idp.identity.sessions import lifetime as session_lifetime
from idp.identity.sessions.lifetime import LiveSession
from idp.identity.users.subjects import Subject
from idp.oauth.sign_in import first_party_sign_in
from idp.oauth.sign_in.first_party_areas import OwnPages
from idp.records import Browser, Session, User


class SignedIn(Struct, frozen=True):
    """The signed-in person and the browser. `live_session` is the valid session with its user;
    `has_other_sessions` is true if the browser has other valid sessions too."""

    browser: Browser
    live_session: LiveSession
    has_other_sessions: bool

    @property
    def session(self) -> Session:
        return self.live_session.session

    @property
    def subject(self) -> Subject:
        return self.live_session.subject

    @property
    def user(self) -> User:
        return self.live_session.subject.user


async def find_person(handler: PageHandler, area: OwnPages) -> SignedIn:
    """Returns the person who is signed in to the pages of this area. If the browser has several
    sessions, it is the one that was chosen for all these pages.

    Raises ResponseSent after a redirect: to a sign-in if there is no session, to the account
    chooser if none of several was chosen.
    """
    browser_record = await handler.find_browser()
    live_sessions = await session_lifetime.find_live(handler.service, browser_record)
    _store_choice(handler, live_sessions)
    live_session = choose(
        live_sessions, handler.get_cookie(_choice_cookie(handler.service.config))
    )
    if (browser_record is None or live_session is None) and handler.request.method == "POST":
        # A parallel request may have replaced the browser's cookie; the redirected GET is sent
        # with the new one.
        handler.redirect_instead(handler.request.uri or area.path)
    if browser_record is None or live_session is None:
        await sign_in(
            handler,
            area,
            browser_record,
            prompt=("select_account",) if len(live_sessions) > 1 else (),
        )
        raise ResponseSent
    handler.zoneinfo = live_session.subject.user.profile.zoneinfo
    return SignedIn(
        browser=browser_record,
        live_session=live_session,
        has_other_sessions=len(live_sessions) > 1,
    )


async def require_recent(
    handler: PageHandler, area: OwnPages, person: SignedIn, seconds: int
) -> None:
    """Checks that the person authenticated within the last `seconds`. If not, redirects to a new
    sign-in of the same user and raises ResponseSent."""
    if not session_lifetime.is_recent(person.session, seconds, handler.service.clock.now()):
        await sign_in(handler, area, person.browser, max_age=seconds, user_id=person.user.id)
        raise ResponseSent


async def sign_in(
    handler: PageHandler,
    area: OwnPages,
    browser_record: Browser | None,
    path: str = "",
    **options: Any,
) -> None:
    """Redirects to a sign-in that returns to the path `path`, by default to this page. `options`
    are options of `first_party_sign_in.begin`, such as `prompt`."""
    path = path or handler.request.uri or area.path
    begun_flow = await first_party_sign_in.begin(
        handler.service, area, path, browser_record, handler.origin(), **options
    )
    handler.set_browser_cookie(begun_flow.cookie)
    pairs = {"flow": begun_flow.address, "client_id": area.id}
    handler.redirect_303(f"/ui/login?{urlencode(pairs)}")


def _store_choice(handler: PageHandler, live_sessions: Sequence[LiveSession]) -> None:
    """Stores the session that the account chooser added to the address. Raises ResponseSent if it
    added one, after a redirect to the address without it."""
    session_id = handler.requested_id("session")
    if session_id is None:
        return
    is_known = any(live_session.session.id == session_id for live_session in live_sessions)
    # A link of another site must not choose the person.
    if is_known and not browser.is_cross_site(handler.service.config, handler.request):
        remember_person(handler, session_id)
    pairs = [pair for pair in handler.query_params().pairs() if pair[0] != "session"]
    handler.redirect_instead(handler.request.path + ("?" + urlencode(pairs) if pairs else ""))


def remember_person(handler: PageHandler, session_id: str) -> None:
    """Stores in a cookie which of the browser's sessions the account pages and the console use."""
    config = handler.service.config
    header = browser.cookie_header(config, _choice_cookie(config), session_id)
    handler.add_header("Set-Cookie", header)


def _choice_cookie(config: Config) -> str:
    return browser.cookie_name(config, "person")


def choose(live_sessions: Sequence[LiveSession], session_id: str | None) -> LiveSession | None:
    """Returns the session with this id; else the only session of the browser; else None."""
    matching = [
        live_session for live_session in live_sessions if live_session.session.id == session_id
    ]
    return matching[0] if matching else live_sessions[0] if len(live_sessions) == 1 else None
