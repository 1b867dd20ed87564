"""Operations at …/events: the audit log."""

from __future__ import annotations

from functools import partial
from typing import Final

from msgspec import structs

from idp.api.operation import named_in, operation
from idp.management.instance import event_stream
from idp.management.instance import events as instance_events

_ALL: Final = "/admin/v1/events"
_OWN: Final = "/management/v1/orgs/me/events"

SEARCH_EVERYWHERE: Final = operation(
    f"POST {_ALL}/_search",
    "iam.read",
    instance_events.everywhere,
    name="event_search_everywhere",
    summary="Search for events of all organizations.",
    lines=partial(instance_events.lines, everywhere=True),
)
TYPES: Final = operation(
    f"POST {_ALL}/types/_search",
    "iam.read",
    instance_events.types,
    name="event_search_types",
    summary="List the types of events.",
)
SEARCH: Final = operation(
    f"POST {_OWN}/_search",
    "events.read",
    instance_events.in_organization,
    name="event_search_in_organization",
    summary="Search for events of the call's organization.",
    lines=partial(instance_events.lines, everywhere=False),
)
STREAM: Final = structs.replace(
    operation(
        "GET /v2/events/stream",
        "events.read",
        event_stream.stream,
        name="event_stream",
        summary="Read sealed events in the order of their positions: as JSON lines, as one"
        " JSON document, or as server-sent events, by the request's Accept.",
    ),
    formats=("application/x-ndjson", "text/event-stream"),
)
OPERATIONS: Final = named_in(globals())
