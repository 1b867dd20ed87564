"""The place of one request, from its head to the end of its response."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from msgspec import Struct

from handlers.http.admission import ClientDisconnected, GroupPlaces, Place
from idp.foundation.fairness import requester
from idp.foundation.metrics import request_costs
from storage import deadline


class RequestPlace(Struct, eq=False):
    """The place (`handlers.http.admission`) that a handler's request waits for, takes and
    releases.

    If the client disconnects, a waiting request stops waiting immediately. A request that is being
    answered keeps its place until the handler is done: otherwise a client that always disconnects
    immediately could start any amount of work.
    """

    _place: Place | None = None
    _places: GroupPlaces | None = None
    _caller: str = ""
    _is_handler_running: bool = True
    _is_disconnected: bool = False

    @property
    def is_refused(self) -> bool:
        """Whether the request was refused for overload, or its client disconnected while it
        waited."""
        return self._place is not None and self._place.refusal is not None

    def enter(self, places: GroupPlaces, network: str) -> bool:
        """Asks for a place for a request from this network. Returns whether it is taken; if not,
        `wait` returns when it has been taken."""
        self._places = places
        self._place = places.enter(network, self._caller)
        requester.begin(self._place)
        return self._place.is_taken

    async def wait(self) -> None:
        """Returns when the place is taken. Raises Shed, ClientDisconnected."""
        if self._place is None:
            return
        with request_costs.waiting(), deadline.running():
            await self._place.wait()

    async def belongs_to(self, caller: str) -> None:
        """Counts the place for the caller who has authenticated, and waits for another one if the
        caller has as many as one may have. Raises Shed, ClientDisconnected."""
        self._caller = caller
        place, places = self._place, self._places
        if place is None or places is None or not place.is_taken:
            return
        if not places.assign(place, caller):
            place.release()
            await self.enter_again()

    @property
    def is_awaited(self) -> bool:
        """Whether another request waits for a place of the group."""
        return self._places is not None and self._places.waiting > 0

    def yield_place(self) -> bool:
        """Lets another request have the place while this one waits for its client. Returns whether
        it had a place; then `enter_again` must be called before the work continues."""
        if self._place is None or not self._place.is_taken:
            return False
        self._place.release()
        return True

    async def enter_again(self) -> None:
        """Waits for another place, after `yield_place`. Raises Shed, ClientDisconnected."""
        if self._is_disconnected:
            raise ClientDisconnected
        if self._place is not None and self._places is not None:
            self.enter(self._places, self._place.network)
            await self.wait()

    @asynccontextmanager
    async def yielded(self) -> AsyncIterator[None]:
        """Lets other requests have the place within the block, and waits for another place at
        its end. Raises Shed, ClientDisconnected."""
        was_yielded = self.yield_place()
        yield
        if was_yielded:
            await self.enter_again()

    def client_disconnected(self) -> None:
        """Records that the client has disconnected."""
        self._is_disconnected = True
        if self._place is not None:
            self._place.has_disconnected = True
            if not (self._place.is_taken and self._is_handler_running):
                self._place.release()

    def handler_done(self) -> None:
        """Records that the handler is done, though the response may not be sent yet."""
        self._is_handler_running = False
        if self._is_disconnected and self._place is not None:
            self._place.release()

    def response_sent(self) -> None:
        """Records that the response has been sent."""
        if self._place is not None:
            self._place.release()
