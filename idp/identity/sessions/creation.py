"""Opening a session: the unit of writes that signs a user in at a browser."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Final

from msgspec import Struct, structs

from idp.audit import events
from idp.audit.events import AuditEntry
from idp.identity.sessions import browsers
from idp.identity.sessions import lifetime as session_lifetime
from idp.identity.sessions.browsers import Cookie
from idp.identity.users.subjects import Subject
from idp.records import SESSIONS, USERS, Browser, Session
from idp.service import Service
from storage import Insert, Update, Write

_RENEWED: Final = (
    *("auth_time", "factor_at", "amr", "acr", "stamps", "last_used_at", "expires_at"),
)


class Opening(Struct, frozen=True):
    """The writes that open or renew a session, and the session and cookie that are valid once they
    are committed."""

    writes: list[Write]
    session: Session
    cookie: Cookie


def prepare(
    service: Service,
    browser: Browser,
    subject: Subject,
    known: Iterable[Session],
    methods: Sequence[str] = session_lifetime.PASSWORD,
    auth_time: datetime | None = None,
    factor_at: datetime | None = None,
) -> Opening:
    """Returns the writes that open a session, or renew the one that this user has in this browser.

    `methods` are those of the authentication, whose time is now. An earlier `auth_time` means that
    only the second factor is new, an earlier `factor_at` that only the second factor is not.
    `known` are the browser's open sessions, also those too old to sign in. The browser gets a new
    secret in the same unit, so of two concurrent sign-ins one fails with Stale (with Conflict in a
    browser without a record). A renewed session keeps its id: tokens that name it remain valid,
    and the id itself authorizes nothing.
    """
    now = service.clock.now()
    rotation, cookie = browsers.rotation(service.random, browser, now, subject.user)
    session = session_lifetime.new(
        service.random, service.config, browser, subject, now, methods, auth_time
    )
    actor = subject.user.id
    write: Write = Insert(SESSIONS, session)
    event = events.created(
        service.random, SESSIONS, session, AuditEntry("session.opened", actor, now)
    )
    # A session under other security stamps has ended and is not renewed.
    own_sessions = [
        each for each in known if (each.user_id, each.stamps) == (session.user_id, session.stamps)
    ]
    if own_sessions:
        renewed: dict[str, Any] = {name: getattr(session, name) for name in _RENEWED}
        write = Update(
            SESSIONS,
            own_sessions[0].id,
            set=renewed,
            increment={"sequence": 1},
            expect={"ended_at": None, "sequence": own_sessions[0].sequence},
        )
        event = events.changed(
            service.random, SESSIONS, own_sessions[0], AuditEntry("session.renewed", actor, now)
        )
        session = structs.replace(own_sessions[0], **renewed)
    return Opening(writes=[write, rotation, event], session=session, cookie=cookie)


def user_guard(subject: Subject) -> Update:
    """Returns a guard for a unit: an update without changes, by which the unit fails with Stale if
    the user was deactivated or got a new security stamp since it was read."""
    user = subject.user
    return Update(USERS, user.id, expect={"stamp": user.stamp, "state": "active"})
