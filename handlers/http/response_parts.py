"""Responses that are sent in parts, at the speed at which the client reads."""

from __future__ import annotations

import asyncio
from typing import Final

from tornado.iostream import StreamClosedError

from handlers.http.admission import ClientDisconnected, Shed
from handlers.http.base import PROMPT_SECONDS, Handler
from handlers.http.request_place import RequestPlace

PART_BYTES: Final = 64 * 1024  # a longer part is sent immediately


async def send_written(handler: Handler) -> None:
    """Sends what a handler has written, and returns when the client has room for more.

    A request whose client takes longer than `PROMPT_SECONDS` to read gives its place to others
    meanwhile; if others wait for one, as soon as its client has no room for more. Raises
    ClientDisconnected if the client disconnects.
    """
    flushed = handler.flush()
    try:
        if not (flushed.done() or handler.place.is_awaited):
            await asyncio.wait([flushed], timeout=PROMPT_SECONDS)
        is_slow = not flushed.done() and handler.place.yield_place()
        await flushed
    except StreamClosedError as error:
        raise ClientDisconnected from error
    if is_slow:
        await _enter_again(handler.place)


async def _enter_again(place: RequestPlace) -> None:
    """Waits for another place as long as the client stays connected: a response that has begun can
    no longer be refused, only aborted, and then the client would request all of it again."""
    while True:
        try:
            await place.enter_again()
            return
        except Shed as refusal:
            await asyncio.sleep(refusal.retry_after_seconds)
