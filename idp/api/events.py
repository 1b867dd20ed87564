"""…/events: what was changed, by whom and when."""

from __future__ import annotations

from functools import partial
from typing import Final

from idp import event_search
from idp.api.operation import operation

_ALL: Final = "/admin/v1/events"
_OWN: Final = "/management/v1/orgs/me/events"

OPERATIONS = (
    operation(
        "POST",
        f"{_ALL}/_search",
        "iam.read",
        event_search.everywhere,
        name="event_search_everywhere",
        summary="Find changes of whatever record, by anybody.",
        lines=partial(event_search.lines, everywhere=True),
    ),
    operation(
        "POST",
        f"{_ALL}/types/_search",
        "iam.read",
        event_search.types,
        name="event_search_types",
        summary="Every type of event that there is.",
    ),
    operation(
        "POST",
        f"{_OWN}/_search",
        "events.read",
        event_search.in_organization,
        name="event_search_in_organization",
        summary="Find changes of the records of the call's organization.",
        lines=partial(event_search.lines, everywhere=False),
    ),
)
