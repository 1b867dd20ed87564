"""`idp audit`: who changed what, and when."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from typing import Any, Final

import click
import msgspec

from idp import api
from idp.cli.backends import Backend
from idp.cli.building import group, with_common_options
from idp.cli.command import Command
from idp.cli.commands.audit import erase, verify
from idp.cli.document import Document
from idp.cli.event_export import export
from idp.cli.fields import instant
from idp.cli.output import Format, flat
from idp.cli.running import carry_out, location_of

_OWN_HELP: Final = "Only events of one organization (--org)."
_EVERY_SECONDS: Final = 1.0
# Clocks of two processes may differ: a later event may have an earlier time.
_MAX_CLOCK_DIFFERENCE: Final = timedelta(seconds=10)
COLUMNS: Final = (
    "creationDate",
    "type.type",
    "aggregate.id",
    "aggregate.loginName",
    "editor.userId",
    "editor.displayName",
    "requestId",
    "summary",
)

audit = group(
    "audit",
    "The audit log: who changed what, and when.",
    [
        Command(
            "search",
            {"": api.events.SEARCH_EVERYWHERE, "own": api.events.SEARCH},
            "idp audit search --since 24h --event-type user.created --format ndjson",
            columns=COLUMNS,
            switches={"own": _OWN_HELP},
            summary="Search for events, the newest first.",
        ),
        Command(
            "types",
            api.events.TYPES,
            "idp audit types",
            columns=("type", "localized.localizedMessage"),
            summary="List the types of events.",
        ),
    ],
)


@click.command("tail", short_help="Print the latest events, and follow new ones.")
@click.option(
    "-n", "--lines", type=click.IntRange(1, 1000), default=20, help="The number of events."
)
@click.option("--follow", is_flag=True, help="Continue with new events.")
@click.option("--own", is_flag=True, help=_OWN_HELP)
def tail(lines: int, follow: bool, own: bool, **option_values: Any) -> None:
    """Print the latest events, the newest last; with --follow also new ones, until it is
    interrupted. Example: idp audit tail --follow
    """
    location, output_format = location_of(option_values), option_values["output_format"]

    async def run(backend: Backend) -> None:
        latest = Tail(backend, own=own)
        for event in await latest.last(lines):
            _print(event, output_format)
        while follow:
            await asyncio.sleep(_EVERY_SECONDS)
            for event in await latest.new_events():
                _print(event, output_format)

    try:
        carry_out(location, run)
    except KeyboardInterrupt:  # the usual way to end it
        raise SystemExit(0) from None


audit.add_command(with_common_options(tail))
audit.add_command(verify)
audit.add_command(erase)
audit.add_command(export)


class Tail:
    """A reader of the newest events of the audit log, which returns no event twice; with `own`,
    only events of the caller's organization.
    """

    def __init__(self, backend: Backend, *, own: bool) -> None:
        self._backend = backend
        self._operation = api.events.SEARCH if own else api.events.SEARCH_EVERYWHERE
        self._returned: dict[str, datetime] = {}
        self._first: tuple[str, str] | None = None

    async def last(self, n: int) -> list[Document]:
        """Returns the newest `n` events in the order of time. Raises IdpError, StorageError."""
        answer = await self._backend.call(self._operation, [], {"limit": n})
        events = answer.get("events", [])[::-1]
        self._first = _position(events[0]) if events else None
        return self._only_new(events)

    async def new_events(self) -> list[Document]:
        """Returns the events that were logged since the last call of `last` or `new_events`.
        Raises IdpError, StorageError."""
        query: Document = {"asc": True, "limit": 1000}
        if self._returned:
            query["from"] = instant(max(self._returned.values()) - _MAX_CLOCK_DIFFERENCE)
        events: list[Document] = []
        while True:
            answer = await self._backend.call(self._operation, [], query)
            events += self._only_new(answer.get("events", []))
            if not answer.get("nextCursor"):
                return events
            query["cursor"] = answer["nextCursor"]

    def _only_new(self, events: list[Document]) -> list[Document]:
        """Returns the events that were not returned before, and records them."""
        new_events = [
            event
            for event in events
            if event["id"] not in self._returned
            and (self._first is None or _position(event) >= self._first)
        ]
        self._returned |= {
            each["id"]: datetime.fromisoformat(each["creationDate"]) for each in new_events
        }
        if self._returned:
            # Older events are not read again, so they need not be remembered.
            oldest = max(self._returned.values()) - 2 * _MAX_CLOCK_DIFFERENCE
            self._returned = {
                event_id: at for event_id, at in self._returned.items() if at >= oldest
            }
        return new_events


def _position(event: Document) -> tuple[str, str]:
    return event["creationDate"], event["id"]


def _print(event: Document, output_format: Format) -> None:
    if output_format == "table":
        texts = flat(event)
        line = "  ".join(texts[name] for name in COLUMNS if texts.get(name))
    else:
        line = msgspec.json.encode(event).decode()
    click.echo(line)
