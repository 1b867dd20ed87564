"""The sessions of a user as the user sees and ends them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from heapq import nlargest
from typing import Final

from msgspec import Struct

from idp import changes
from idp.changes import Change
from idp.identity.sessions import known_browsers
from idp.identity.sessions import lifetime as session_lifetime
from idp.identity.users.subjects import Subject
from idp.records import BROWSERS, SESSIONS, USERS, Browser, Session
from idp.search import paging
from idp.service import Service

MAX_LISTED: Final = 100  # sessions, those that were used last


class OwnSession(Struct, frozen=True):
    """A session that has not ended, and its browser's record, None if that was deleted."""

    session: Session
    browser: Browser | None


async def find_all(service: Service, subject: Subject) -> list[OwnSession]:
    """Returns the user's sessions, the last used first, at most `MAX_LISTED`."""
    sessions = list[Session]()
    async for session in open_sessions(service, subject):
        sessions.append(session)
        # Shortened repeatedly, so that memory is bounded for a user with very many sessions.
        if len(sessions) > 2 * MAX_LISTED:
            sessions = _latest(sessions)
    sessions = _latest(sessions)
    browsers = await service.store.get_many([(BROWSERS, session.agent_id) for session in sessions])
    return [
        OwnSession(session, browser) for session, browser in zip(sessions, browsers, strict=True)
    ]


def _latest(sessions: list[Session]) -> list[Session]:
    return nlargest(MAX_LISTED, sessions, key=lambda session: session.last_used_at)


async def open_sessions(service: Service, subject: Subject) -> AsyncIterator[Session]:
    """Yields every session of the user that has not ended."""
    now = service.clock.now()
    async for session in paging.each(service, SESSIONS, {"user_id": subject.user.id}):
        if not session_lifetime.has_ended(service.config, session, subject, now):
            yield session


async def end_others(service: Service, subject: Subject, current: Session) -> None:
    """Ends every session of the user but `current`, with its tokens and with messages to its
    applications. Afterwards the account knows no other browser.

    If it is interrupted, it can be called again: each session is ended in a unit of its own.
    """
    await changes.run(service, _forget_others, subject, current.agent_id)
    async for session in open_sessions(service, subject):
        if session.id != current.id:
            await changes.run(service, _end, session.id)


async def _forget_others(service: Service, subject: Subject, browser_id: str) -> Change[None]:
    """Makes this the only browser that the account knows."""
    user, browser = await service.store.get_many(
        [(USERS, subject.user.id), (BROWSERS, browser_id)]
    )
    if user is None or browser is None or user.stamp != subject.user.stamp:
        return Change(None)
    return Change(None, known_browsers.forget_others_writes(service, user, browser))


async def _end(service: Service, session_id: str) -> Change[None]:
    session = await service.store.get(SESSIONS, session_id)
    if session is None or session.ended_at is not None:
        return Change(None)
    return Change(None, await session_lifetime.end_writes(service, session))
