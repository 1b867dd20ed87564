"""GET /v2/events/stream: the next sealed events, as JSON lines, one document or server-sent
events."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import urlencode

import msgspec
from msgspec import structs

from handlers.api import ApiHandler
from handlers.http import response_parts
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
_KEEPALIVE_SECONDS: Final = 15  # proxies close connections that are silent for longer
_JSON: Final = "application/json"
_NDJSON: Final = "application/x-ndjson"
_SSE: Final = "text/event-stream"
_STREAM_ERRORS: Final = (IdpError, StorageError)


class EventStreamHandler(ApiHandler):
    """Answers readers of the event streams. A waiting reader takes no slot among the requests of
    the process, and is authorized again before events are sent."""

    _has_ended = False

    def _is_bulk(self) -> bool:
        return True

    def _end(self) -> None:
        super()._end()
        self._has_ended = True

    async def _run(self, *values: str) -> None:
        arguments: dict[str, Any] = await self._arguments()
        request = arguments["request"]
        last_event_id = self.request.headers.get("Last-Event-ID")
        if last_event_id:
            request = structs.replace(request, cursor=last_event_id)
        reader = await event_stream.open_reader(self.service, self.call, request)
        accepted = self.request.headers.get("Accept", "")
        if _SSE in accepted:
            await self._send_events(reader)
            return
        batch_task = event_stream.next_batch(self.service, reader, self._waiting_for(request.wait))
        batch = await cancellation.run_unless_set(self._ended, batch_task)
        answer = await event_stream.view(self.service, reader, batch)
        self._headers["Link"] = f'<{self._next_url(request, answer)}>; rel="next"'
        if _JSON in accepted and _NDJSON not in accepted:
            self._send_answer(msgspec.json.encode(answer))
        else:
            self._headers["Content-Type"] = _NDJSON
            self.finish(b"".join(msgspec.json.encode(event) + b"\n" for event in answer.events))

    get = ApiHandler.run

    def _waiting_for(self, seconds: float) -> Waiting:
        ends_at = self.service.timer.monotonic() + seconds
        return Waiting(ends_at, self._must_end, self.slot.yielded, self._authorize_again)

    def _must_end(self) -> bool:
        return self._has_ended or self.app.is_draining

    async def _authorize_again(self) -> None:
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
        parameters = {name: value for name, value in query.items() if value not in ("", 0)}
        return f"{self.service.config.issuer}{STREAM.path}?{urlencode(parameters)}"

    async def _send_events(self, reader: EventReader) -> None:
        """Sends server-sent events for ten minutes, or until the caller or the service ends. An
        error ends the response: the client's next request, which continues after the last event,
        gets the error as its answer."""
        ends_at = self.service.timer.monotonic() + SSE_SECONDS
        with self.service.waiting_readers.waiting(reader.filter.org_id, reader.caller):
            # Errors of the first reading still have a status of their own.
            reader = await self._send_next(reader, self._waiting_for(0))
            try:
                while self.service.timer.monotonic() < ends_at and not self._must_end():
                    reader = await self._send_next(reader, self._waiting_for(_KEEPALIVE_SECONDS))
            except _STREAM_ERRORS as error:
                self.log_exception(type(error), error, None)
        if not self._has_ended:
            self.finish()

    async def _send_next(self, reader: EventReader, waiting: Waiting) -> EventReader:
        """Sends the next events, or a comment if none came in time; returns the reader of those
        after them."""
        batch = await event_stream.await_batch(self.service, reader, waiting)
        answer = await event_stream.view(self.service, reader, batch)
        self._headers["Content-Type"] = _SSE
        self._headers["X-Accel-Buffering"] = "no"  # else nginx would buffer events
        for event in answer.events:
            self.write(
                f"id: {event.cursor}\ndata: ".encode() + msgspec.json.encode(event) + b"\n\n"
            )
        if not answer.events:
            self.write(b": no event\n\n")
        await response_parts.send_written(self)
        return event_stream.continued(reader, batch)


ROUTES: Final = [(STREAM.path, EventStreamHandler, {"operations": {"GET": STREAM}})]
