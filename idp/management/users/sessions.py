"""Calls that list and end the sessions of a user."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from idp import changes
from idp.changes import Change
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
from idp.records import SESSIONS, USERS, Session
from idp.schema import answers
from idp.schema.answers import Answer, Changed, Details
from idp.search.query_planner import Filter
from idp.service import Service

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


async def end(service: Service, call: Call, user_id: str, session_id: str) -> Change[Changed]:
    """Ends one session of a user and the tokens that were issued in it, and informs the
    applications it was used in.

    Raises NotFound, also for a session that has ended; PermissionDenied (the user has more rights
    than the caller).
    """
    user = await manageable.find(service, call, user_id)
    now = service.clock.now()
    session = await service.store.get(SESSIONS, session_id)
    if session is None or session.user_id != user.id or session.ended_at is not None:
        raise NotFound("there is no such session", error_code="session.not_found")
    values, event = {"ended_at": now}, "session.ended"
    return changes.updated(service, call, SESSIONS, session, values, event).change(
        *await session_clients.messages(service, session, now)
    )


async def end_all(service: Service, call: Call, user_id: str) -> Change[Changed]:
    """Ends all sessions, tokens and personal access tokens of a user.

    Raises NotFound, PermissionDenied (the user has more rights than the caller).
    """
    user = await manageable.find(service, call, user_id)
    subject = await user_lookup.subject_of(service, user)
    # Sessions and tokens contain the stamp of the time they were issued.
    values = {"stamp": service.random.token(bits=64)}
    return changes.updated(service, call, USERS, user, values, "user.signed_out").change(
        *(await session_lifetime.logout_messages_of_all(service, subject) if subject else [])
    )


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
