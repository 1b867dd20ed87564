"""The users that a search finds as one list, for a file, with an event that names who made it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final

from msgspec import structs

from idp import changes
from idp.audit import events
from idp.audit.events import AuditEntry
from idp.changes import Change
from idp.management import call as management_call
from idp.management.call import Call
from idp.management.users import search as user_search
from idp.management.users.read import UserAnswer
from idp.management.users.search import UserSearch, UsersFound
from idp.records import ORGANIZATIONS
from idp.service import Service
from storage import Update

MAX_ROWS: Final = 100_000
_PAGE_SIZE: Final = 250  # SQLite reads on the event loop, which must be free for other requests


async def begin(service: Service, call: Call, request: UserSearch) -> AsyncIterator[UserAnswer]:
    """Records the event `export.made`, and returns up to 100,000 users of the call's organization
    that match the search, whatever its page.

    Raises InvalidArgument (the search), PermissionDenied, NotFound (the organization), before
    anything is recorded.
    """
    organization = await management_call.organization(service, call)
    call = structs.replace(call, org_id=organization.id)
    request = structs.replace(request, query=structs.replace(request.query, limit=_PAGE_SIZE))
    first = await user_search.search(service, call, request)
    await _record(service, call, organization.id)
    return _each(service, call, request, first)


async def _each(
    service: Service, call: Call, request: UserSearch, page: UsersFound
) -> AsyncIterator[UserAnswer]:
    remaining = MAX_ROWS
    while True:
        for user in page.result[:remaining]:
            yield user
        remaining -= len(page.result)
        if remaining <= 0 or not page.next_cursor:
            return
        query = structs.replace(request.query, cursor=page.next_cursor)
        page = await user_search.search(service, call, structs.replace(request, query=query))


async def _record(service: Service, call: Call, org_id: str) -> None:
    """Records the event. It is no change of the organization, whose version stays the same, so
    that open forms of other administrators are still accepted."""

    async def plan() -> Change[None]:
        organization = await management_call.find_organization(service, call, org_id)
        # A guard: there is no event of an organization after its deletion.
        unchanged = Update(ORGANIZATIONS, organization.id, expect={"stamp": organization.stamp})
        payload = {"what": "users", "format": "csv"}
        entry = AuditEntry("export.made", call.actor, service.clock.now(), payload=payload)
        event = events.occurred(service.random, ORGANIZATIONS, organization, entry)
        return Change(None, [unchanged, event])

    await changes.commit(service, plan)
