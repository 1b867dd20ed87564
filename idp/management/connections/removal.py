"""The call that deletes a connection, and the work that it defers."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from idp import changes
from idp.audit import deferred_work
from idp.changes import Change
from idp.foundation.errors import FailedPrecondition
from idp.management.call import Call
from idp.management.connections import read
from idp.records import DEFERRED_WORK, DeferredWork
from idp.records.connections import CONNECTIONS
from idp.records.identity_links import IDENTITY_LINKS, IdentityLink
from idp.schema.answers import Changed
from idp.schema.field_rules import OneOf
from idp.schema.reading import Request
from idp.service import Service
from idp.upstream import links
from storage import COUNT_CAP, Cursor, Insert, Page, Stale, Update

DELETED: Final[Literal["connection.deleted"]] = "connection.deleted"
_LINKS_PER_STEP: Final = 50  # links of one step


class ConnectionRemoval(Request, frozen=True, kw_only=True):
    """With `links=delete` the connection is deleted although users are linked to it, and the links
    with it."""

    links: Annotated[str, OneOf(("", "delete"))] = ""


async def remove(
    service: Service,
    call: Call,
    connection_id: str,
    request: ConnectionRemoval,
    *,
    is_instance: bool,
) -> Change[Changed]:
    """Deletes a connection. Its sessions are ended and its links removed afterwards.

    Raises NotFound, FailedPrecondition (users are linked to it).
    """
    connection = await read.find(service, call, connection_id, is_instance=is_instance)
    count = await links.count(service, connection.id, up_to=COUNT_CAP)
    if count and not request.links:
        number = f"{count} or more" if count >= COUNT_CAP else str(count)
        message = f"{number} users are linked to the connection; links=delete deletes them too"
        raise FailedPrecondition(message, error_code="connection.has_links")
    work = deferred_work.new(service, DELETED, connection_id, call.actor)
    owner = connection.org_id or call.caller.org_id
    return changes.removed(service, call, CONNECTIONS, connection, DELETED, owner).change(
        Insert(DEFERRED_WORK, work),
        afterwards=[
            service.settings_cache.forget,
            deferred_work.first_step(service, work, purge),
        ],
    )


async def purge(service: Service, work: DeferredWork) -> bool:
    """Ends the sessions that a bounded number of users have opened by a deleted connection,
    removes their links, and returns whether none remains.

    It is a step of deferred work (`idp/audit/deferred_work.py`); `work.owner_id` is the id of the
    connection.
    """
    page = await _links(service, work.owner_id)
    for link in page.records:
        if not await links.end_sessions(service, link.connection_id, link.user_id):
            return False
    units = [links.removals(service, [each], work.actor) for each in page.records]
    for outcome in await service.store.commit_each(units):
        # A link that was changed meanwhile (Stale) is read again by the next step.
        if outcome is not None and not isinstance(outcome, Stale):
            raise outcome
    return await links.count(service, work.owner_id, up_to=1) == 0


async def end_sessions(service: Service, work: DeferredWork) -> bool:
    """Ends the sessions that a bounded number of users have opened by a deactivated connection,
    and returns whether these were the last.

    It is a step of deferred work; `work.owner_id` is the id of the connection.
    """
    page = await _links(service, work.owner_id, work.after)
    for link in page.records:
        if not await links.end_sessions(service, link.connection_id, link.user_id):
            return False
    if page.after is None:
        return True
    await service.store.commit(Update(DEFERRED_WORK, work.id, set={"after": page.after}))
    return False


async def _links(
    service: Service, connection_id: str, after: Cursor | None = None
) -> Page[IdentityLink]:
    where = {"connection_id": connection_id}
    return await service.store.find(
        IDENTITY_LINKS, where, order="user_id", limit=_LINKS_PER_STEP, after=after
    )
