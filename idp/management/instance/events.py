"""Searches of the audit log, answered in pages and as a stream of lines.

The store reads events in the order of time by the most selective of the filters, and the others
are applied to the events that it returns. The number of events that one request reads is bounded,
so a page may be short or even empty and still have a cursor for the next one.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, ClassVar, Final

import msgspec
from msgspec import Meta, Struct, structs

from idp.audit import event_details
from idp.audit.event_types import OBJECTS, TYPES, object_of
from idp.foundation import base64url
from idp.foundation.errors import FieldProblem, InvalidArgument
from idp.management import call as management_call
from idp.management.call import Call
from idp.records import EVENTS, INSTANCES, USERS, Event, User
from idp.schema.answers import Answer
from idp.schema.field_rules import Instant, Integer, Items, Name, Text
from idp.schema.reading import Request
from idp.service import Service
from storage import Cursor, Where

MAX_LIMIT: Final = 1000
MAX_EXPORTED: Final = 10_000
MAX_RECORDS_READ: Final = 2000
_PAGE_SIZE: Final = 101  # SQLite reads on the event loop, which must be free for other requests
_MAX_CURSOR: Final = 500
_MAX_NAMES: Final = 100
_LAST_ID: Final = chr(0x10FFFF)  # sorts after the id of every event of the same instant
_Aware = Annotated[datetime, Meta(tz=True)]
_EventId = Annotated[str, Meta(pattern="^[0-9A-Za-z_-]{1,200}$")]
_FIRST: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LAST: Final = datetime(9999, 12, 31, tzinfo=UTC)


class Range(Request, frozen=True, kw_only=True):
    """A range of instants, both ends included."""

    since: Annotated[datetime, Instant()] | None = None
    until: Annotated[datetime, Instant()] | None = None


class EventQuery(Request, frozen=True, kw_only=True):
    """A search for the events that match all filters; the newest come first unless `asc` says
    otherwise. `sequence` limits the events of each record to those after this number, or before it
    if the newest come first. `from` is the instant from which on events are returned, in the same
    direction. `cursor` is the `next_cursor` of the previous answer.
    """

    one_of: ClassVar[tuple[tuple[str, ...], ...]] = (("from_date", "range"),)

    sequence: Annotated[int, Integer(0)] = 0
    limit: Annotated[int, Integer(1, MAX_LIMIT)] = 100
    asc: bool = False
    editor_user_id: Annotated[str, Text()] = ""
    event_types: Annotated[list[Name], Items(_MAX_NAMES)] = []
    aggregate_id: Annotated[str, Text()] = ""
    aggregate_types: Annotated[list[Name], Items(_MAX_NAMES)] = []
    resource_owner: Annotated[str, Text()] = ""
    from_date: Annotated[datetime, Instant()] | None = msgspec.field(default=None, name="from")
    range: Range | None = None
    request_id: Annotated[str, Text()] = ""
    cursor: Annotated[str, Text(max=_MAX_CURSOR)] = ""


class Editor(Answer, frozen=True, kw_only=True):
    """The author of a change. `display_name` is present for users. For changes that the service
    makes by itself, a name takes the place of the id.
    """

    user_id: str
    display_name: str = ""


class LocalizedType(Answer, frozen=True, kw_only=True):
    key: str
    localized_message: str


class TypeView(Answer, frozen=True, kw_only=True):
    type: str
    localized: LocalizedType


class Aggregate(Answer, frozen=True, kw_only=True):
    """The record that changed, and its organization. `login_name` is present for users."""

    id: str
    type: TypeView
    resource_owner: str = ""
    login_name: str = ""


class EventView(Answer, frozen=True, kw_only=True):
    """One change of one record. `sequence` is the record's own count of changes, which each change
    increments by one. `summary` is present for refused attempts: cause, count, network and client,
    in English.
    """

    id: str
    editor: Editor
    aggregate: Aggregate
    sequence: str
    creation_date: datetime
    type: TypeView
    payload: dict[str, str] = {}
    request_id: str = ""
    summary: str = ""


class EventsFound(Answer, frozen=True, kw_only=True):
    """A page of events. `next_cursor` is present if there may be more."""

    events: list[EventView] = []
    next_cursor: str = ""


class EventTypesFound(Answer, frozen=True, kw_only=True):
    event_types: list[TypeView] = []


class _EventPage(Struct):
    events: list[Event]
    after: Cursor | None


async def everywhere(service: Service, call: Call, request: EventQuery) -> EventsFound:
    """Returns the events of all records, by all users, that match the query.

    With `Accept: application/x-ndjson` the answer is a stream of up to 10,000 events, one in each
    line.
    """
    return await _answer(service, await _page(service, request))


async def in_organization(service: Service, call: Call, request: EventQuery) -> EventsFound:
    """Returns the events of the records of the call's organization that match the query.

    With `Accept: application/x-ndjson` the answer is a stream of up to 10,000 events, one in each
    line. Raises PermissionDenied, NotFound (the organization).
    """
    organization = await management_call.organization(service, call)
    return await _answer(service, await _page(service, request, organization.id), organization.id)


async def types(service: Service, call: Call) -> EventTypesFound:
    """Returns the types of all events that the audit log may contain."""
    return EventTypesFound(event_types=[_type(name) for name in TYPES])


async def lines(
    service: Service, call: Call, request: EventQuery, *, everywhere: bool
) -> AsyncIterator[EventView]:
    """Yields up to 10,000 events that match the query: with `everywhere` those of all
    organizations, otherwise those of the call's organization.

    Raises InvalidArgument (the cursor), PermissionDenied, NotFound (the organization).
    """
    org_id = None if everywhere else (await management_call.organization(service, call)).id
    # One page of the store each, however few the caller wants in a page of its own.
    request = structs.replace(request, limit=_PAGE_SIZE)
    remaining = MAX_EXPORTED
    while remaining:
        page = await _page(service, request, org_id)
        answer = await _answer(service, page, org_id)
        for event in answer.events[:remaining]:
            yield event
        remaining -= len(answer.events[:remaining])
        if not answer.next_cursor:
            return
        request = structs.replace(request, cursor=answer.next_cursor)


async def _page(service: Service, query: EventQuery, org_id: str | None = None) -> _EventPage:
    """Returns the next events that match the query, and the position after which the next page
    begins, None on the last page."""
    where = _most_selective(query, org_id)
    since, until = _bounds(query)
    after, matching, records_read = _start(query, since, until), list[Event](), 0
    while True:
        page = await service.store.find(
            EVENTS, where, order="at", descending=not query.asc, limit=_PAGE_SIZE, after=after
        )
        for event in page.records:
            if not since <= event.at <= until:  # out of range, as are all later ones
                return _EventPage(matching, None)
            after = (event.at, event.id)
            if _passes(query, org_id, event):
                matching.append(event)
                if len(matching) == query.limit:
                    return _EventPage(matching, after)
        records_read += len(page.records)
        if page.after is None:
            return _EventPage(matching, None)
        if records_read >= MAX_RECORDS_READ:
            return _EventPage(matching, after)
        await asyncio.sleep(0)


def _most_selective(query: EventQuery, org_id: str | None) -> Where:
    """Returns the condition of the most selective index that one of the filters can use."""
    by_path = {
        "record_id": query.aggregate_id,
        "actor": query.editor_user_id,
        "org_id": org_id or query.resource_owner,
    }
    return next(({path: value} for path, value in by_path.items() if value), {})


def _bounds(query: EventQuery) -> tuple[datetime, datetime]:
    time_range = query.range or Range()
    since, until = time_range.since or _FIRST, time_range.until or _LAST
    if query.from_date is not None:
        return (query.from_date, until) if query.asc else (since, query.from_date)
    return since, until


def _start(query: EventQuery, since: datetime, until: datetime) -> Cursor:
    """Returns the position after which the page begins. Raises InvalidArgument (the cursor)."""
    if not query.cursor:
        return (since, "") if query.asc else (until, _LAST_ID)
    try:
        data = base64url.decode(query.cursor)
        at, event_id = msgspec.json.decode(data, type=tuple[_Aware, _EventId])
    except (ValueError, msgspec.MsgspecError):
        message = "is not a cursor of a search for events"
        raise InvalidArgument([FieldProblem("query.cursor", "cursor", message)]) from None
    # The cursor is not signed: it can only move within what the query matches.
    return min(max(at.astimezone(UTC), _FIRST), _LAST), event_id


def _cursor(cursor: Cursor | None) -> str:
    return base64url.encode(msgspec.json.encode(cursor)) if cursor else ""


def _passes(query: EventQuery, org_id: str | None, event: Event) -> bool:
    # The installation's own record belongs to an organization, whose managers may not read it.
    if org_id is not None and (event.org_id != org_id or event.collection == INSTANCES.name):
        return False
    step = event.sequence - query.sequence
    return (
        query.resource_owner in ("", event.org_id)
        and query.aggregate_id in ("", event.record_id)
        and query.editor_user_id in ("", event.actor)
        and query.request_id in ("", event.request_id)
        and (not query.event_types or event.type in query.event_types)
        and (not query.aggregate_types or object_of(event.type) in query.aggregate_types)
        and (not query.sequence or (step > 0 if query.asc else step < 0))
    )


async def _answer(service: Service, page: _EventPage, org_id: str | None = None) -> EventsFound:
    event_views = await views(service, page.events, org_id)
    return EventsFound(events=event_views, next_cursor=_cursor(page.after))


async def views(
    service: Service, events: Sequence[Event], org_id: str | None = None
) -> list[EventView]:
    """Returns the events as the API returns them, with the names of users; within an organization,
    only of its own users."""
    names = await _names(service, _user_ids(events), org_id)
    return [_view(event, names) for event in events]


def _user_ids(events: Sequence[Event]) -> set[str]:
    """Returns the ids of the authors of the events, and of the users that were changed."""
    changed = {event.record_id for event in events if event.collection == USERS.name}
    return changed | {event.actor for event in events}


async def _names(service: Service, ids: set[str], org_id: str | None) -> dict[str, User]:
    """Returns the users with these ids, by id; within an organization, only its own users."""
    records = await service.store.get_many([(USERS, user_id) for user_id in sorted(ids)])
    users = [user for user in records if isinstance(user, User)]
    return {user.id: user for user in users if org_id in (None, user.org_id)}


def _view(event: Event, users: Mapping[str, User]) -> EventView:
    user, payload = users.get(event.actor), dict(event.payload)
    changed = users.get(event.record_id) if event.collection == USERS.name else None
    return EventView(
        id=event.id,
        editor=Editor(
            user_id=event.actor,
            display_name=user.profile.display_name or user.user_name if user else "",
        ),
        aggregate=Aggregate(
            id=event.record_id,
            type=_type(object_of(event.type)),
            resource_owner=event.org_id or "",
            login_name=changed.user_name if changed else "",
        ),
        sequence=str(event.sequence),
        creation_date=event.at,
        type=_type(event.type),
        payload=payload,
        request_id=event.request_id or "",
        summary=event_details.summary(event.type, payload),
    )


def _type(name: str) -> TypeView:
    subject, _, change = name.partition(".")
    words = [OBJECTS.get(subject, subject.replace("_", " ")), change.replace("_", " ")]
    message = event_details.sentence(name) or ": ".join(word for word in words if word)
    return TypeView(
        type=name,
        localized=LocalizedType(key=f"EventTypes.{name}", localized_message=message),
    )
