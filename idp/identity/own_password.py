"""A signed-in person's change of their own password."""

from __future__ import annotations

from idp.identity import opening, password_change, sessions, sign_in
from idp.identity.agents import Cookie
from idp.identity.sessions import LiveSession
from idp.identity.subjects import Subject
from idp.records import Agent
from idp.service import Service


async def prove(service: Service, live: LiveSession, password: str, address: str) -> Subject:
    """The session's user, whose present password this is. Tries count as those of a sign-in.

    Raises sign_in.Refused, Throttled, HashingBusy.
    """
    user = live.subject.user
    subject = await sign_in.check_password(service, user.user_name, password, address)
    if subject.user.id != user.id:
        raise sign_in.Refused("the session's login name has become somebody else's")
    return subject


async def replace(
    service: Service, agent: Agent, live: LiveSession, subject: Subject, password: str
) -> Cookie:
    """Replace the password and put a new session in this one's place, in one unit.

    Every other session and token of the user ends with the old stamp. Raises HashingBusy; Stale
    when the password or the session changed at the same moment.
    """
    change = await password_change.prepare(service, subject, password, actor=subject.user.id)
    opened = opening.prepare(service, agent, change.subject, ())
    over = sessions.ending(service, live.session)
    await service.store.commit(*change.writes, *opened.writes, *over)
    return opened.cookie
