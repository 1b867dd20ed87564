"""The place of one request, from its head to the end of its answer."""

from __future__ import annotations

from tornado.iostream import IOStream

from handlers.http.admission import GroupPlaces, Place
from idp.foundation.fairness import requester
from idp.foundation.metrics import request_costs
from storage import deadline


class RequestPlace:
    """What a handler has of `handlers.http.admission`: the place that its request waits for, takes
    and gives back.

    If the client disconnects, a request that waits gives up at once. One that is being answered
    keeps its place to the end of the work: otherwise a client that always leaves at once could
    start any amount of it.
    """

    def __init__(self) -> None:
        self._place: Place | None = None
        self._places: GroupPlaces | None = None
        self._is_worked_on = True
        self._is_over = False

    @property
    def is_refused(self) -> bool:
        """Whether the request was refused for overload, or its client left while it waited."""
        return self._place is not None and self._place.refusal is not None

    def enter(self, places: GroupPlaces, network: str) -> bool:
        """Asks for a place for a request from this network. Returns whether it is taken; if not,
        `wait` returns when it is."""
        self._places = places
        self._place = places.enter(network)
        requester.begin(self._place)
        return self._place.is_taken

    async def wait(self, stream: IOStream | None = None) -> None:
        """Returns when the place is taken. Raises Shed, ClientLeft.

        Tornado looks whether the client is there only while it reads the request, and after that;
        meanwhile this does with the connection's `stream`.
        """
        if self._place is None:
            return
        if stream is not None:
            stream.set_close_callback(self._place.give_back)
        try:
            with request_costs.waiting(), deadline.running():
                await self._place.wait()
        finally:
            if stream is not None:
                stream.set_close_callback(None)

    def give_way(self) -> bool:
        """Lets another request have the place while this one waits for its client. Returns whether
        it did; then `enter_again` has to be called before the work."""
        gives_way = self._place is not None and self._place.is_taken
        if gives_way:
            self._give_back()
        return gives_way

    async def enter_again(self) -> None:
        """Waits for another place, after `give_way`. Raises Shed, ClientLeft."""
        if self._place is not None and self._places is not None:
            self.enter(self._places, self._place.network)
            await self.wait()

    def client_left(self) -> None:
        """Notes that the client has disconnected."""
        self._is_over = True
        if self._place is not None:
            self._place.has_left = True
            if self._place.is_waiting or not self._is_worked_on:
                self._give_back()

    def worked(self) -> None:
        """Notes that the handler does nothing more, though the answer may not be sent yet."""
        self._is_worked_on = False
        if self._is_over:
            self._give_back()

    def answered(self) -> None:
        """Notes that the answer was sent."""
        self._is_over = True
        self._give_back()

    def _give_back(self) -> None:
        if self._place is not None:
            self._place.give_back()
