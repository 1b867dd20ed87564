"""The slot of one request, from its head to the end of its response."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from msgspec import Struct
from tornado.web import Finish

from idp.foundation.metrics import request_costs
from idp.limits import requester
from idp.limits.admission import Abandoned, GroupSlots, Slot
from storage import deadline


class ClientDisconnected(Finish):
    """The client has disconnected; its request is not answered."""


class RequestSlot(Struct, eq=False):
    """The slot (`idp.limits.admission`) that a handler's request waits for, takes and
    releases.

    If the client disconnects, a waiting request stops waiting immediately. A request that is being
    answered keeps its slot until the handler is done: otherwise a client that always disconnects
    immediately could start any amount of work.
    """

    _slot: Slot | None = None
    _slots: GroupSlots | None = None
    _caller: str = ""
    _is_handler_running: bool = True
    _is_disconnected: bool = False

    @property
    def is_refused(self) -> bool:
        """Whether the request was refused for overload, or its client disconnected while it
        waited."""
        return self._slot is not None and self._slot.refusal is not None

    def enter(self, slots: GroupSlots, client: str) -> bool:
        """Asks for a slot for a request of this client. Returns whether it is taken; if not,
        `wait` returns when it has been taken."""
        self._slots = slots
        self._slot = slots.enter(client, self._caller)
        requester.begin(self._slot)
        return self._slot.is_taken

    async def wait(self) -> None:
        """Returns when the slot is taken. Raises Overloaded, ClientDisconnected."""
        if self._slot is None:
            return
        with request_costs.waiting(), deadline.running():
            try:
                await self._slot.wait()
            except Abandoned as error:
                raise ClientDisconnected from error

    async def belongs_to(self, caller: str) -> None:
        """Counts the slot for the caller who has authenticated, and waits for another one if the
        caller has as many as one may have. Raises Overloaded, ClientDisconnected."""
        self._caller = caller
        slot, slots = self._slot, self._slots
        if slot is None or slots is None or not slot.is_taken:
            return
        if not slots.assign(slot, caller):
            slot.release()
            await self.enter_again()

    @property
    def is_awaited(self) -> bool:
        """Whether another request waits for a slot of the group."""
        return self._slots is not None and self._slots.waiting > 0

    def yield_slot(self) -> bool:
        """Lets another request have the slot while this one waits for its client. Returns whether
        it had a slot; then `enter_again` must be called before the work continues."""
        if self._slot is None or not self._slot.is_taken:
            return False
        self._slot.release()
        return True

    async def enter_again(self) -> None:
        """Waits for another slot, after `yield_slot`. Raises Overloaded, ClientDisconnected."""
        if self._is_disconnected:
            raise ClientDisconnected
        if self._slot is not None and self._slots is not None:
            self.enter(self._slots, self._slot.key)
            await self.wait()

    @asynccontextmanager
    async def yielded(self) -> AsyncIterator[None]:
        """Lets other requests have the slot within the block, and waits for another slot at
        its end. Raises Overloaded, ClientDisconnected."""
        was_yielded = self.yield_slot()
        yield
        if was_yielded:
            await self.enter_again()

    def client_disconnected(self) -> None:
        """Records that the client has disconnected."""
        self._is_disconnected = True
        if self._slot is not None:
            self._slot.has_disconnected = True
            if not (self._slot.is_taken and self._is_handler_running):
                self._slot.release()

    def handler_done(self) -> None:
        """Records that the handler is done, though the response may not be sent yet."""
        self._is_handler_running = False
        if self._is_disconnected and self._slot is not None:
            self._slot.release()

    def response_sent(self) -> None:
        """Records that the response has been sent."""
        if self._slot is not None:
            self._slot.release()
