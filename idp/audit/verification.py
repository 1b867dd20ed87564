"""Verification of the sealed streams: whether every event is as it was when it was sealed.

The chain shows any change of events, and any event that was removed, swapped or added. It can't
show that the newest events were removed together with an older head put in place: *anchors* can,
which are heads that were written down outside of the store.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Final

import msgspec
from msgspec import Struct

from idp.audit import chain, event_streams, sealing
from idp.audit.event_types import STREAMS
from idp.audit.sealing import ChainState
from idp.records import EVENTS, AuditHead, Event, EventStream
from idp.service import Service
from storage import Cursor

_PAGE_SIZE: Final = 200
_LAST_ID: Final = chr(0x10FFFF)


class Anchor(Struct, frozen=True):
    """A position of a stream, and the value that the chain had there."""

    stream: EventStream
    position: int
    chain: str


class StreamVerification(Struct, kw_only=True, rename="camel"):
    """The result of the verification of one stream.

    `position` is the last that was verified, `floor` the last that was removed by retention.
    `events` is the number of events that are valid, `erased` of them without their payload, and
    `anchors` the number of anchors that were compared. `fault_position` is the first position at
    which the stream is not as it was sealed, and `fault` the reason; both are None if there is
    none.
    """

    stream: EventStream
    floor: int
    position: int
    events: int = 0
    erased: int = 0
    anchors: int = 0
    fault_position: int | None = None
    fault: str | None = None

    def fail(self, position: int, fault: str) -> None:
        self.fault_position, self.fault = position, fault


async def verify(service: Service, anchors: Iterable[Anchor] = ()) -> list[StreamVerification]:
    """Verifies all streams; the service may run meanwhile. Raises ChainLost, WrongKey,
    StorageError."""
    state = await sealing.read_state(service) or ChainState.empty()
    anchor_list = list(anchors)
    return [
        await _StreamVerifier(
            service, state, name, {a.position: a for a in anchor_list if a.stream == name}
        ).run()
        for name in STREAMS
    ]


class _Anchors(Struct):
    """A document with anchors, such as what `idp backup verify --json` prints."""

    anchors: list[Anchor]


def anchors_in(lines: Iterable[str]) -> list[Anchor]:
    """Returns the anchors among lines of JSON: each is an anchor, such as in the service's log, or
    has a list of `anchors`, as of a backup; other lines are ignored."""
    anchors = []
    for line in lines:
        with contextlib.suppress(msgspec.MsgspecError, UnicodeEncodeError):
            anchors.append(msgspec.json.decode(line, type=Anchor))
        with contextlib.suppress(msgspec.MsgspecError, UnicodeEncodeError):
            anchors += msgspec.json.decode(line, type=_Anchors).anchors
    return anchors


def anchors_of(heads: Iterable[AuditHead]) -> list[Anchor]:
    """Returns the heads of the streams as anchors, without those of streams that have no event."""
    by_stream = {head.id: head for head in heads if head.position}
    return [
        Anchor(name, by_stream[name].position, by_stream[name].chain)
        for name in STREAMS
        if name in by_stream
    ]


class _StreamVerifier:
    """The verification of one stream, from its floor to its head."""

    def __init__(
        self,
        service: Service,
        state: ChainState,
        stream: EventStream,
        anchors: Mapping[int, Anchor],
    ) -> None:
        self._service, self._key, self._anchors = service, state.key, anchors
        self._head = head = state.heads[stream]
        self._result = StreamVerification(stream=stream, floor=head.floor, position=head.floor)
        self._chain = head.floor_chain
        # The first head was read before the events, so that all of these have to be there.
        self._min_position = head.position

    async def run(self) -> StreamVerification:
        result = self._result
        if not self._has_true_floor():
            result.fail(self._head.floor, "the floor is not one that the service has stored")
            return result
        try:
            async for event in _events(self._service, result.stream):
                if not await self._verify_event(event):
                    return result
        except msgspec.ValidationError:
            result.fail(result.position + 1, "the event can't be read")
            return result
        await self._verify_end()
        return result

    def _has_true_floor(self) -> bool:
        head = self._head
        if not head.floor:
            return not head.floor_chain
        mac = chain.floor_mac(self._key, head.id, head.floor, head.floor_chain)
        return mac == head.floor_mac and self._is_anchored(head.floor, head.floor_chain)

    async def _verify_event(self, event: Event) -> bool:
        """Verifies the next event; returns whether it is valid."""
        result = self._result
        if event.position != result.position + 1:
            await self._follow_floor(until=event.position or 0)
        expected = result.position + 1
        if event.position is None or event.position < expected:
            result.fail(event.position or 0, f"the event {event.id} was added")
        elif event.position > expected:
            result.fail(expected, "the event was removed")
        elif event.chain != chain.value(self._key, self._chain, event):
            result.fail(expected, f"the event {event.id} was changed")
        elif chain.is_erased(event) and not chain.is_erased_by_service(self._key, event):
            result.fail(expected, f"the payload of the event {event.id} was removed")
        elif not self._is_anchored(expected, event.chain):
            result.fail(expected, "the chain differs from the anchor")
        else:
            result.position, self._chain = expected, event.chain
            result.events += 1
            result.erased += chain.is_erased(event)
            return True
        return False

    async def _follow_floor(self, until: int) -> None:
        """Continues after the floor if it is beyond the last position and below `until`: retention
        has removed events meanwhile."""
        head = await self._read_head()
        if self._result.position < head.floor < until:
            self._head = head
            if self._has_true_floor():
                self._result.floor = self._result.position = head.floor
                self._chain = head.floor_chain

    async def _verify_end(self) -> None:
        """Compares the end of the events with the head, and with anchors beyond it."""
        result, head = self._result, self._head
        if result.position != head.position:  # events were sealed or removed meanwhile
            head = await self._read_head()
            await self._follow_floor(until=head.position + 1)
        if result.position < self._min_position:
            result.fail(result.position + 1, "the event was removed")
        elif result.position > head.position:
            result.fail(head.position + 1, "the event is beyond the head of the stream")
        elif result.position == head.position and self._chain != head.chain:
            result.fail(head.position, "the chain differs from the head of the stream")
        elif beyond := [each for each in self._anchors if each > result.position]:
            result.fail(min(beyond), "an anchor has events that are not in the store")

    def _is_anchored(self, position: int, value: str) -> bool:
        anchor = self._anchors.get(position)
        self._result.anchors += anchor is not None
        return anchor is None or anchor.chain == value

    async def _read_head(self) -> AuditHead:
        return (await event_streams.heads(self._service))[self._result.stream]


async def _events(service: Service, stream: EventStream) -> AsyncIterator[Event]:
    """Yields the events of a stream, in order of their positions."""
    after: Cursor | None = None
    while True:
        page = await service.store.find(
            EVENTS, {"stream": stream}, order="position", limit=_PAGE_SIZE, after=after
        )
        for event in page.records:
            yield event
        if page.after is None:
            return
        after = page.after
