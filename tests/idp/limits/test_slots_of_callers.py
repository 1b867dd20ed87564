"""A caller has a part of a group's places: a network, and whoever it authenticates as."""

from __future__ import annotations

import asyncio

import pytest

from handlers.http import response_parts
from handlers.http.request_slot import RequestSlot
from idp.foundation.network_keys import client_key
from idp.limits.admission import Overloaded
from tests.idp.limits.test_admission import GROUP, SHARED, Timers, enter, slots_of
from tests.support import patience


@pytest.fixture
def timers():
    return Timers()


@pytest.mark.promise("overload: callers")
async def test_a_network_has_at_most_its_part_of_the_places_and_the_others_stay_free(timers):
    places = slots_of(SHARED, timers)
    first, second, third, other = enter(places, "a", "a", "a", "b")

    assert [first.is_taken, second.is_taken, third.is_taken] == [True, True, False]
    assert other.is_taken
    first.release()
    await third.wait()
    assert (places.in_use, places.waiting) == (3, 0)


@pytest.mark.promise("overload: callers")
async def test_the_networks_of_one_48_have_the_part_of_one_network(timers):
    places = slots_of(SHARED, timers)
    *taken, waiting = enter(
        places, *[client_key(f"2001:db8:0:{number}::1") for number in range(3)]
    )

    assert [place.is_taken for place in taken] == [True, True]
    assert waiting.is_waiting


@pytest.mark.promise("overload: callers")
async def test_a_caller_in_many_networks_has_at_most_the_part_of_one_and_waits_for_it(
    timers,
):
    places = slots_of(SHARED, timers)
    requests = [RequestSlot() for _ in range(4)]
    for network, request in zip("abcd", requests, strict=True):
        request.enter(places, network)
    for request in requests[:2]:
        await request.belongs_to("caller")
    third = asyncio.ensure_future(requests[2].belongs_to("caller"))
    await asyncio.sleep(0)
    await requests[3].belongs_to("other")

    assert not third.done()
    assert (places.in_use, places.waiting) == (3, 1)
    requests[0].response_sent()
    await third
    assert (places.in_use, places.waiting) == (3, 0)
    for request in requests:
        request.response_sent()
    assert places.in_use == 0


@pytest.mark.promise("overload: callers")
async def test_a_caller_who_waits_too_long_for_one_more_place_is_refused(timers):
    places = slots_of(SHARED, timers)
    requests = [RequestSlot() for _ in range(3)]
    for network, request in zip("abc", requests, strict=True):
        request.enter(places, network)
    await requests[0].belongs_to("caller")
    await requests[1].belongs_to("caller")
    third = asyncio.ensure_future(requests[2].belongs_to("caller"))
    await asyncio.sleep(0)
    timers.advance(SHARED.max_wait_seconds)

    with pytest.raises(Overloaded):
        await third
    assert (places.in_use, places.waiting) == (2, 0)


@pytest.mark.promise("overload: places")
async def test_whose_client_has_no_room_for_more_gives_the_place_back_at_once_while_others_wait(
    timers, monkeypatch
):
    monkeypatch.setattr(response_parts, "PROMPT_SECONDS", patience.SECONDS)
    places = slots_of(GROUP, timers)
    readers = [Reader() for _ in range(2)]
    for network, reader in zip("ab", readers, strict=True):
        reader.slot.enter(places, network)
    waiting = places.enter("c")
    sending = asyncio.ensure_future(response_parts.send_written(readers[0]))
    await waiting.wait()

    assert waiting.is_taken
    assert not sending.done()
    readers[0].flushed.set_result(None)
    waiting.release()
    await sending
    assert places.in_use == 2


class Reader:
    """A handler whose client has no room for what was written until `flushed` is done."""

    def __init__(self):
        self.slot = RequestSlot()
        self.flushed = asyncio.get_running_loop().create_future()

    def flush(self):
        return self.flushed
