"""A sign-in by the records that the pages store at its end, for tests of what comes after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from handlers.http import browser as browser_cookies
from idp.identity.sessions import browsers
from idp.identity.sessions import creation as session_creation
from idp.identity.sessions import lifetime as session_lifetime
from idp.identity.users import lookup as user_lookup
from idp.identity.users import password_change
from idp.identity.users.subjects import is_active
from tests.support.browsers.visitor import Visitor

if TYPE_CHECKING:
    from tests.support.service import Server


async def open_session(server: Server, visitor: Visitor, login_name: str, password: str) -> bool:
    """Signs the user in, in this browser and beside its other users.

    Returns False, and does nothing, for any user but the demo user and copies of it (how others
    got their passwords is what their tests are about), and where the pages would ask for more or
    refuse.
    """
    service, demo = server.service, server.start.demo
    if demo is None or password != demo.password:
        return False
    user = await user_lookup.find_by_login_name(service, login_name)
    if user is None or user.password is None or await password_change.is_due(service, user):
        return False
    subject = await user_lookup.subject_of(service, user)
    if subject is None or not is_active(subject):
        return False
    if not (await service.hasher.verify(password, user.password.hash)).ok:
        return False

    name = browser_cookies.cookie_name(service.config)
    browser = await browsers.find(service, visitor.cookies.get(name))
    browser = browser or browsers.new(service).browser
    sessions = await session_lifetime.find_open(service, browser)
    opening = session_creation.prepare(service, browser, subject, sessions)
    await service.store.commit(*opening.writes)
    header = browser_cookies.cookie_header(service.config, name, opening.cookie.value)
    visitor.receive_cookie(header)
    return True
