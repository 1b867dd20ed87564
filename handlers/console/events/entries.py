"""Events as the console displays them: a sentence with links, and the event itself."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final
from urllib.parse import parse_qsl, urlencode

from msgspec import Struct, structs

from handlers.console import record_pages
from handlers.console.base import ConsoleHandler
from handlers.console.lists import PAGE
from handlers.console.sections import SECTIONS
from handlers.forms.cells import action_link, sub_list
from handlers.forms.run_operation import Document
from idp import api
from idp.audit import event_details, event_sentences, event_types, record_names
from idp.foundation.i18n import Message, message
from idp.records import EventStream

_WHOLE: Final = "event"  # the parameter with the id of the event to display itself
_ACTIVITY: Final = message("Activity", context="users")
_ICONS: Final[Mapping[EventStream, str]] = {
    "access": "user",
    "change": "check",
    "failure": "triangle-alert",
}


class NamedLink(Struct, frozen=True):
    """A name in a sentence, and the address of the page of what it names, or None."""

    name: Message | str
    url: str | None = None


class EventEntry(Struct, frozen=True, kw_only=True):
    """An event for `parts.events`. `names` are the values of the placeholders of `sentence`.
    `document` is the event as the API returns it, as JSON, if the address asks for it; otherwise
    `url` is the address that does. `request` leads to all events of the same request."""

    at: str
    type: str
    icon: str
    sentence: Message
    names: Mapping[str, NamedLink]
    details: Sequence[Message]
    url: str
    document: str = ""
    request: NamedLink | None = None


async def entries(
    page: ConsoleHandler, events: Sequence[Document], org_id: str | None
) -> list[EventEntry]:
    """Returns events of an answer of the API as the page displays them. Names are those of records
    of the organization, or of all if `org_id` is None."""
    references = [each for event in events for each in _references(event)]
    records = await record_names.find(page.service, references, org_id)
    links = {
        record_id: NamedLink(record_names.name_of(record), record_pages.address(page, record))
        for record_id, record in records.items()
    }
    found = [_entry(page, event, links) for event in events]
    requested = page.query_params().if_once(_WHOLE)
    return [
        _whole(page, entry, event) if event["id"] == requested else entry
        for entry, event in zip(found, events, strict=True)
    ]


def _whole(page: ConsoleHandler, entry: EventEntry, event: Document) -> EventEntry:
    """Returns the entry with the event itself, and with a link to those of the same request."""
    request_id, events_path = event.get("requestId"), SECTIONS["events"].path
    path = page.request.path if page.request.path.startswith(events_path) else events_path
    return structs.replace(
        entry,
        document=json.dumps(event, indent=2, ensure_ascii=False),
        request=NamedLink(request_id, page.url_of(path, requestId=request_id))
        if request_id
        else None,
    )


def _address_of(page: ConsoleHandler, event_id: str) -> str:
    """Returns the address of the page with the event itself."""
    query = [each for each in parse_qsl(page.request.query) if each[0] != _WHOLE]
    return f"{page.request.path}?{urlencode([*query, (_WHOLE, event_id)])}"


async def of_record(page: ConsoleHandler, record_id: str, *more: Document) -> Document:
    """Returns the template value of the newest events about a record, and of those that `more`
    searches find, as a part of the record's page."""
    searches = [{"aggregateId": record_id}, *more]
    answers = await asyncio.gather(
        *(page.run(api.events.SEARCH, document={**each, "limit": PAGE}) for each in searches)
    )
    events = {event["id"]: event for answer in answers for event in answer.get("events", ())}
    newest = sorted(events.values(), key=lambda event: event["creationDate"], reverse=True)
    url = page.url_of(SECTIONS["events"].path, aggregateId=record_id)
    return {
        **sub_list(_ACTIVITY, [], [], message("No events yet.", context="events")),
        "entries": await entries(page, newest[:PAGE], page.org_id),
        "actions": [action_link(message("All events", context="events"), url)],
    }


def _references(event: Document) -> Iterator[tuple[str, str]]:
    """Yields the kind and the id of each record that the event names."""
    yield "editor", event["editor"]["userId"]
    yield event_types.object_of(event["type"]["type"]), event["aggregate"]["id"]
    yield from event.get("payload", {}).items()


def _entry(page: ConsoleHandler, event: Document, links: Mapping[str, NamedLink]) -> EventEntry:
    event_type, payload = event["type"]["type"], event.get("payload", {})
    actor, aggregate = event["editor"]["userId"], event["aggregate"]
    by_service = event_sentences.BY_SERVICE.get(actor, actor)
    names = {name: links.get(value, NamedLink(value)) for name, value in payload.items()}
    names["editor"] = links.get(actor, NamedLink(event["editor"].get("displayName") or by_service))
    names["object"] = links.get(
        aggregate["id"], NamedLink(aggregate.get("loginName") or aggregate["id"])
    )
    sentence = event_sentences.sentence(event_type, payload) or Message(event_type)
    return EventEntry(
        at=event["creationDate"],
        type=event_type,
        icon=_ICONS[event_types.stream_of(event_type)],
        sentence=sentence,
        names={name: names[name] for name in event_sentences.placeholders(sentence)},
        details=event_details.details(event_type, payload),
        url=_address_of(page, event["id"]),
    )
