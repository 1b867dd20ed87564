"""Opening a session: the unit of writes that signs a user in at a browser."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from msgspec import Struct, structs

from idp.audit import events
from idp.audit.events import AuditEntry
from idp.identity.sessions import browsers
from idp.identity.sessions import lifetime as session_lifetime
from idp.identity.sessions.browsers import Cookie
from idp.identity.users.subjects import Subject
from idp.records import SESSIONS, Browser, Session
from idp.service import Service
from storage import Insert, Update, Write

_RENEWED: Final = (
    *("auth_time", "factor_at", "amr", "acr", "stamps", "last_used_at", "expires_at"),
    "connection_id",
)


class NewSession(Struct, frozen=True):
    """The writes that open or renew a session, and the session and cookie that are valid once they
    are committed. `is_renewed` says that the session exists already."""

    writes: list[Write]
    session: Session
    cookie: Cookie
    is_renewed: bool = False


def prepare(
    service: Service,
    browser: Browser,
    subject: Subject,
    sessions: Iterable[Session],
    methods: Sequence[str] = session_lifetime.PASSWORD,
    auth_time: datetime | None = None,
    factor_at: datetime | None = None,
    connection_id: str | None = None,
) -> NewSession:
    """Returns the writes that open a session, or renew the one that this user has in this browser.

    `methods` are those of the authentication, whose time is now; `connection_id` is the connection
    by whose provider the user has signed in, if any. An earlier `auth_time` means that
    only the second factor is new, an earlier `factor_at` that only the second factor is not.
    `sessions` are the browser's open sessions, also those too old to sign in. The browser gets a
    new secret in the same unit, so of two concurrent sign-ins one fails with Stale (with Conflict
    in a browser without a record). A renewed session keeps its id: tokens that name it remain
    valid, and the id itself authorizes nothing.
    """
    now = service.clock.now()
    rotation, cookie = browsers.rotation(service.random, browser, now, subject.user)
    session = session_lifetime.new(
        service.random,
        service.config,
        browser,
        subject,
        now,
        methods,
        auth_time,
        connection_id=connection_id,
    )
    # A session under other security stamps has ended and is not renewed.
    own_sessions = [
        each
        for each in sessions
        if (each.user_id, each.stamps) == (session.user_id, session.stamps)
    ]
    if own_sessions and auth_time is not None:  # the first factor is the earlier one
        session.connection_id = own_sessions[0].connection_id
    if own_sessions:
        return _renewal(service, own_sessions[0], session, rotation, cookie)
    entry = AuditEntry("session.opened", subject.user.id, now, payload=_payload(session))
    event = events.created(service.random, SESSIONS, session, entry)
    return NewSession(
        writes=[Insert(SESSIONS, session), rotation, event], session=session, cookie=cookie
    )


def _payload(session: Session) -> Mapping[str, str]:
    """Returns what an event states of the session: the connection by which the user has signed
    in, if any."""
    return {"connection_id": session.connection_id} if session.connection_id else {}


def _renewal(
    service: Service, known: Session, new: Session, rotation: Write, cookie: Cookie
) -> NewSession:
    """Returns the writes that give the session `known` the authentication of the session `new`."""
    renewed: dict[str, Any] = {name: getattr(new, name) for name in _RENEWED}
    write = Update(
        SESSIONS,
        known.id,
        set=renewed,
        increment={"sequence": 1},
        expect={"ended_at": None, "sequence": known.sequence},
    )
    entry = AuditEntry("session.renewed", new.user_id, new.created_at, payload=_payload(new))
    event = events.changed(service.random, SESSIONS, known, entry)
    session = structs.replace(known, **renewed)
    return NewSession(
        writes=[write, rotation, event], session=session, cookie=cookie, is_renewed=True
    )
