"""GET /v2/events/stream: the next sealed events, as JSON lines, one document or server-sent
events."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final
from urllib.parse import urlencode

import msgspec
from msgspec import structs
from tornado.iostream import StreamClosedError

from handlers.api import ApiHandler
from idp.api import OPERATIONS
from idp.api.events import STREAM
from idp.foundation import cancellation
from idp.foundation.errors import IdpError
from idp.management import call as management_call
from idp.management.instance import event_stream
from idp.management.instance.event_stream import (
    EventReader,
    EventStreamQuery,
    StreamedEvents,
    Waiting,
)
from storage import StorageError

SSE_SECONDS: Final = 600  # of one response with server-sent events; the client opens another one
_BEAT_SECONDS: Final = 15  # proxies close connections that are silent for longer
_JSON: Final = "application/json"
_LINES: Final = "application/x-ndjson"
_SSE: Final = "text/event-stream"
_ENDED: Final = (IdpError, StorageError, StreamClosedError)


class EventStreamHandler(ApiHandler):
    """Answers readers of the event streams. A reader who waits has no place among the requests of
    the process, and is authorized again before events are sent."""

    _has_left = False

    def _is_bulk(self) -> bool:
        return True

    def _end(self) -> None:
        super()._end()
        self._has_left = True

    async def _run(self, *values: str) -> None:
        given: dict[str, Any] = await self._given()
        request = given["request"]
        last = self.request.headers.get("Last-Event-ID")
        if last:
            request = structs.replace(request, cursor=last)
        reader = await event_stream.opened(self.service, self.call, request)
        accepted = self.request.headers.get("Accept", "")
        if _SSE in accepted:
            await self._send_events(reader)
            return
        reading = event_stream.next_batch(self.service, reader, self._waiting(request.wait))
        batch = await cancellation.unless(self._left, reading)
        answer = await event_stream.view(self.service, reader, batch)
        self._headers["Link"] = f'<{self._next_url(request, answer)}>; rel="next"'
        if _JSON in accepted and _LINES not in accepted:
            self._finish(msgspec.json.encode(answer))
        else:
            self._headers["Content-Type"] = _LINES
            self.finish(b"".join(msgspec.json.encode(each) + b"\n" for each in answer.events))

    get = ApiHandler.run

    def _waiting(self, seconds: float) -> Waiting:
        ends_at = time.monotonic() + seconds
        return Waiting(ends_at, self._is_over, self._without_place, self._confirm)

    @asynccontextmanager
    async def _without_place(self) -> AsyncIterator[None]:
        """Lets other requests have the place while this one waits for events or its client."""
        gave_way = self.place.give_way()
        yield
        if gave_way:
            await self.place.enter_again()

    def _is_over(self) -> bool:
        return self._has_left or self.app.is_draining

    async def _confirm(self) -> None:
        """Authenticates and authorizes the caller again. Raises Unauthenticated,
        PermissionDenied, NotFound."""
        self.call = await management_call.admit(
            self.service,
            self.request.headers.get("Authorization"),
            self.operation.permission,
            self.call.org_id,
        )

    def _next_url(self, request: EventStreamQuery, answer: StreamedEvents) -> str:
        query = structs.asdict(request) | {"cursor": answer.next_cursor}
        given = {name: value for name, value in query.items() if value not in ("", 0)}
        return f"{self.service.config.issuer}{STREAM}?{urlencode(given)}"

    async def _send_events(self, reader: EventReader) -> None:
        """Sends server-sent events for ten minutes, or until the caller or the service ends. An
        error ends the response: the next one, after the last event, tells it."""
        ends_at = time.monotonic() + SSE_SECONDS
        with self.service.waiting_readers.waiting():
            # Errors of the first reading still have a status of their own.
            reader = await self._send_next(reader, self._waiting(0))
            try:
                while time.monotonic() < ends_at and not self._is_over():
                    reader = await self._send_next(reader, self._waiting(_BEAT_SECONDS))
            except _ENDED as error:
                self.log_exception(type(error), error, None)
        if not self._has_left:
            self.finish()

    async def _send_next(self, reader: EventReader, waiting: Waiting) -> EventReader:
        """Sends the next events, or a comment if none came in time; returns the reader of those
        after them."""
        batch = await event_stream.awaited(self.service, reader, waiting)
        answer = await event_stream.view(self.service, reader, batch)
        self._headers["Content-Type"] = _SSE
        for each in answer.events:
            self.write(f"id: {each.cursor}\ndata: ".encode() + msgspec.json.encode(each) + b"\n\n")
        if not answer.events:
            self.write(b": no event\n\n")
        async with self._without_place():
            await self.flush()
        return event_stream.continued(reader, batch)


_OPERATION: Final = next(each for each in OPERATIONS if each.path == STREAM)
ROUTES: Final = [(STREAM, EventStreamHandler, {"operations": {"GET": _OPERATION}})]
