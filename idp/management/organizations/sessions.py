"""The call that lists the active sessions of an organization's users."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import structs

from idp.identity.sessions import lifetime as session_lifetime
from idp.identity.users.subjects import Subject
from idp.management import call as management_call
from idp.management import search as management_search
from idp.management.call import Call
from idp.management.search import Search
from idp.management.users import sessions as user_sessions
from idp.management.users.sessions import SessionView
from idp.records import (
    BROWSERS,
    INSTANCE_ID,
    INSTANCES,
    SESSIONS,
    USERS,
    Browser,
    Organization,
    Session,
    User,
)
from idp.schema.answers import Answer
from idp.search.query_planner import Filter
from idp.service import Service
from storage import Key

# SQLite reads on the event loop, which must be free for other requests.
_BATCH_SIZE: Final = 100
# For a page of `management_search.MAX_LIMIT` sessions, all of which are active.
_MAX_READS: Final = 10
_NOT_ENDED: Final = Filter(path="ended_at", value=None)


class UserSessionView(SessionView, frozen=True, kw_only=True):
    """A session with its user. `browser` and `system` are the names of the browser and of its
    operating system, as far as they are known."""

    user_id: str
    display_name: str
    preferred_login_name: str
    browser: str = ""
    system: str = ""


class UserSessionsFound(Answer, frozen=True, kw_only=True):
    """A page of results. `nextCursor` is present if there may be more; a page may have fewer
    sessions than were requested, and even none."""

    result: list[UserSessionView] = []
    next_cursor: str = ""


async def search(service: Service, call: Call, request: Search) -> UserSessionsFound:
    """Returns the active sessions of the users of the call's organization, in the order in which
    they began.

    Raises PermissionDenied, NotFound (the organization), InvalidArgument (the cursor).
    """
    organization = await management_call.organization(service, call)
    found, query = list[UserSessionView](), request.query
    for _ in range(_MAX_READS):
        size = min(request.query.limit - len(found), _BATCH_SIZE)
        page = await management_search.find(
            service,
            SESSIONS,
            structs.replace(query, limit=size),
            [_NOT_ENDED],
            organizations=[organization.id],
            order="created_at",
            is_counted=False,
        )
        found += await _active(service, organization, page.records)
        query = structs.replace(query, cursor=page.next_cursor)
        if not page.next_cursor or len(found) == request.query.limit:
            break
    return UserSessionsFound(result=found, next_cursor=query.cursor)


async def _active(
    service: Service, organization: Organization, sessions: Sequence[Session]
) -> list[UserSessionView]:
    """Returns those of the sessions that have not ended, not even by time or by a new security
    stamp."""
    keys: list[Key] = [(INSTANCES, INSTANCE_ID)]
    for session in sessions:
        keys += [(USERS, session.user_id), (BROWSERS, session.agent_id)]
    instance, *pairs = await service.store.get_many(keys) if sessions else (None,)
    found, now = list[UserSessionView](), service.clock.now()
    for session, user, browser in zip(sessions, pairs[::2], pairs[1::2], strict=True):
        if instance is None or user is None:  # the user was deleted meanwhile
            continue
        subject = Subject(instance=instance, organization=organization, user=user)
        if not session_lifetime.has_ended(service.config, session, subject, now):
            found.append(_view(organization, session, user, browser))
    return found


def _view(
    organization: Organization, session: Session, user: User, browser: Browser | None
) -> UserSessionView:
    return UserSessionView(
        **structs.asdict(user_sessions.view(session, is_active=True)),
        user_id=user.id,
        display_name=user.profile.display_name,
        preferred_login_name=f"{user.user_name}@{organization.primary_domain}",
        browser=(browser and browser.browser) or "",
        system=(browser and browser.system) or "",
    )
