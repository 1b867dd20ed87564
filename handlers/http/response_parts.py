"""Responses that are sent in parts, at the speed at which the client reads."""

from __future__ import annotations

import asyncio
from typing import Final

from tornado.iostream import StreamClosedError

from handlers.http.base import PROMPT_SECONDS, Handler
from handlers.http.request_slot import ClientDisconnected, RequestSlot
from idp.limits.admission import Overloaded

PART_BYTES: Final = 64 * 1024  # a longer part is sent immediately


async def send_written(handler: Handler) -> None:
    """Sends what a handler has written, and returns when the client has room for more.

    A request whose client takes longer than `PROMPT_SECONDS` to read gives its slot to others
    meanwhile; if others wait for one, as soon as its client has no room for more. Raises
    ClientDisconnected if the client disconnects.
    """
    flushed = handler.flush()
    try:
        if not (flushed.done() or handler.slot.is_awaited):
            await asyncio.wait([flushed], timeout=PROMPT_SECONDS)
        is_slow = not flushed.done() and handler.slot.yield_slot()
        await flushed
    except StreamClosedError as error:
        raise ClientDisconnected from error
    if is_slow:
        await _enter_again(handler.slot)


async def _enter_again(slot: RequestSlot) -> None:
    """Waits for another slot as long as the client stays connected: a response that has begun can
    no longer be refused, only aborted, and then the client would request all of it again."""
    while True:
        try:
            await slot.enter_again()
            return
        except Overloaded as refusal:
            await asyncio.sleep(refusal.retry_after_seconds)
