"""Calls that list and end the sessions of a user."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from idp.audit import versioned_updates
from idp.foundation.errors import NotFound
from idp.identity.sessions import clients as session_clients
from idp.identity.sessions import lifetime as session_lifetime
from idp.identity.users import lookup as user_lookup
from idp.identity.users.subjects import Subject
from idp.management import search as management_search
from idp.management.call import Call
from idp.management.search import Search, SearchDetails
from idp.management.users import manageable
from idp.management.users import read as user_read
from idp.records import SESSIONS, USERS, Session, User
from idp.schema import answers
from idp.schema.answers import Answer, Changed, Details
from idp.search.query_planner import Filter
from idp.service import Service
from storage import Write

_ACTIVE: Final = "SESSION_STATE_ACTIVE"
_TERMINATED: Final = "SESSION_STATE_TERMINATED"


class SessionView(Answer, frozen=True, kw_only=True):
    """`authenticationDate` is the time of the last authentication."""

    id: str
    details: Details
    state: str
    authentication_date: datetime
    authentication_methods: list[str]
    last_used_date: datetime
    end_date: datetime | None = None


class SessionsFound(Answer, frozen=True, kw_only=True):
    """A page of results. `nextCursor` is present if there may be more."""

    details: SearchDetails
    result: list[SessionView] = []
    next_cursor: str = ""


async def search(service: Service, call: Call, user_id: str, request: Search) -> SessionsFound:
    """Returns the sessions of a user: the active ones, and those that ended recently.

    Raises NotFound, InvalidArgument (the cursor).
    """
    user = await user_read.find(service, call, user_id)
    subject = await user_lookup.subject_of(service, user)
    of_user = Filter(path="user_id", value=user.id)
    page = await management_search.find(service, SESSIONS, request.query, [of_user])
    return SessionsFound(
        details=page.details,
        result=[
            view(session, is_active=_is_active(service, subject, session))
            for session in page.records
        ],
        next_cursor=page.next_cursor,
    )


async def end(service: Service, call: Call, user_id: str, session_id: str) -> Changed:
    """Ends one session of a user and the tokens that were issued in it, and informs the
    applications it was used in.

    Raises NotFound, also for a session that has ended; PermissionDenied (the user has more rights
    than the caller).
    """
    user = await manageable.find(service, call, user_id)
    logout_messages, now = list[Write](), service.clock.now()

    async def find() -> Session:
        session = await service.store.get(SESSIONS, session_id)
        if session is None or session.user_id != user.id or session.ended_at is not None:
            raise NotFound("there is no such session", error_code="session.not_found")
        logout_messages[:] = await session_clients.messages(service, session, now)
        return session

    ended = await versioned_updates.changed(
        service,
        SESSIONS,
        find,
        lambda _: {"ended_at": now},
        "session.ended",
        call,
        further_writes=lambda *_: logout_messages,
    )
    return Changed(details=answers.details(ended, ended.org_id))


async def end_all(service: Service, call: Call, user_id: str) -> Changed:
    """Ends all sessions, tokens and personal access tokens of a user.

    Raises NotFound, PermissionDenied (the user has more rights than the caller).
    """
    logout_messages = list[Write]()

    async def find() -> User:
        user = await manageable.find(service, call, user_id)
        subject = await user_lookup.subject_of(service, user)
        logout_messages[:] = (
            await session_lifetime.logout_messages_of_all(service, subject) if subject else []
        )
        return user

    def decide(_: User) -> Mapping[str, object]:
        # Sessions and tokens contain the stamp of the time they were issued.
        return {"stamp": service.random.token(bits=64)}

    user = await versioned_updates.changed(
        service,
        USERS,
        find,
        decide,
        "user.signed_out",
        call,
        further_writes=lambda *_: logout_messages,
    )
    return Changed(details=answers.details(user, user.org_id))


def _is_active(service: Service, subject: Subject | None, session: Session) -> bool:
    now = service.clock.now()
    return subject is not None and not session_lifetime.has_ended(
        service.config, session, subject, now
    )


def view(session: Session, *, is_active: bool) -> SessionView:
    """Returns a session as the management API describes it."""
    return SessionView(
        id=session.id,
        details=answers.details(session, session.org_id),
        state=_ACTIVE if is_active else _TERMINATED,
        authentication_date=session.auth_time,
        authentication_methods=session.amr,
        last_used_date=session.last_used_at,
        end_date=session.ended_at,
    )
