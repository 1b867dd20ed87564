"""GET /v2/events/stream while no event comes: long polls and server-sent events."""

from __future__ import annotations

import asyncio

import msgspec
import pytest

from handlers.events import stream as stream_handler
from idp.audit import event_streams, sealing
from idp.limits import waiting_readers
from idp.records import EVENTS, PATS
from storage import Delete, Unavailable
from tests.handlers.events.streaming import (  # noqa: F401
    PATH,
    id_of,
    polling_often,
    read,
    sealed,
    service_of_server,
)
from tests.support import patience
from tests.support.management.callers import new_caller, new_organization, refused
from tests.support.patience import until
from tests.support.store.both_stores import on_both_stores, store_as_marked  # noqa: F401

POLL_SECONDS = event_streams._POLL_SECONDS


@pytest.fixture
def timer(timer, monkeypatch):
    """Advances by a poll at a time, which are as far apart as outside of tests."""
    monkeypatch.setattr(event_streams, "_POLL_SECONDS", POLL_SECONDS)
    return timer


class TestWaiting:
    """A long poll is answered when there are events, or at its end."""

    async def test_events_end_the_wait(self, service, owner):
        waiting = asyncio.create_task(read(owner, "?cursor=latest&wait=20&stream=access"))
        await until(lambda: service.waiting_readers.count)
        (new,) = await sealed(service, 1)
        events, _ = await waiting

        assert [one["id"] for one in events] == [new.id]
        assert service.waiting_readers.count == 0

    async def test_without_events_the_answer_is_empty_and_has_a_cursor(
        self, service, owner, timer
    ):
        await sealed(service, 1)
        waiting = asyncio.create_task(read(owner, "?cursor=latest&wait=20"))
        await until(lambda: timer.sleepers)
        await timer.advance(19)
        assert not waiting.done()
        await timer.advance(1)
        nothing, url = await waiting
        (new,) = await sealed(service, 1)
        page = await owner.get(url)

        assert nothing == []
        assert new.id in page.text

    async def test_a_token_that_was_revoked_meanwhile_receives_nothing(
        self, server, service, owner
    ):
        acme = await new_organization(server, "acme.example")
        caller = await new_caller(server, owner.visitor, acme, "ORG_OWNER")
        await sealing.seal(service)
        waiting = asyncio.create_task(caller.get(f"{PATH}?cursor=latest&wait=20"))
        await until(lambda: service.waiting_readers.count)
        (pat,) = (await server.store.find(PATS, {"user_id": caller.user_id})).records
        await server.store.commit(Delete(PATS, pat.id))
        await sealed(service, 1, org_id=acme.id)

        refused(await waiting, 401, 16)

    async def test_beyond_the_limit_of_waiting_readers_the_answer_is_503(
        self, service, owner, monkeypatch
    ):
        await sealing.seal(service)
        monkeypatch.setattr(waiting_readers, "MAX_WAITING", 0)
        owner.visitor.may_fail = True
        page = await owner.get(f"{PATH}?cursor=latest&wait=1")

        assert refused(page, 503, 14)[""] == "busy"
        assert int(page.headers["Retry-After"]) > 0
        assert (await owner.get(f"{PATH}?cursor=latest")).status == 200

    async def test_who_waits_takes_no_place_from_others(self, service, owner):
        await sealing.seal(service)
        query = "?cursor=latest&wait=20&stream=access"
        waiting = [asyncio.create_task(read(owner, query)) for _ in range(9)]
        await until(lambda: service.waiting_readers.count >= 9)
        assert (await read(owner, "?stream=access"))[0] == []
        (new,) = await sealed(service, 1)

        for each in waiting:
            assert [one["id"] for one in (await each)[0]] == [new.id]

    async def test_a_shutdown_ends_the_wait(self, server, service, owner):
        await sealing.seal(service)
        waiting = asyncio.create_task(read(owner, "?cursor=latest&wait=30"))
        await until(lambda: service.waiting_readers.count)
        server.app.is_draining = True

        assert (await asyncio.wait_for(waiting, patience.SECONDS))[0] == []


class TestServerSentEvents:
    """The same events, one after another over one response."""

    async def test_each_event_has_its_cursor_as_id(self, service, owner, monkeypatch):
        monkeypatch.setattr(stream_handler, "SSE_SECONDS", 0)
        await sealed(service, 3)
        page = await owner.get(f"{PATH}?stream=access", Accept="text/event-stream")
        first, *others = page.text.strip().split("\n\n")

        assert page.headers["Content-Type"] == "text/event-stream"
        id, data = first.split("\n")
        event = msgspec.json.decode(data.removeprefix("data: "))
        assert id == f"id: {event['cursor']}"
        assert len(others) == 2

        page = await owner.get(
            f"{PATH}?cursor=oldest", Accept="text/event-stream", Last_Event_ID=event["cursor"]
        )
        assert [id_of(part) for part in page.text.strip().split("\n\n")] == [
            id_of(part) for part in others
        ]

    async def test_events_come_while_it_is_open_and_comments_in_between(
        self, service, owner, timer
    ):
        query = f"{PATH}?cursor=latest&stream=access"
        reading = asyncio.create_task(owner.get(query, Accept="text/event-stream"))
        await until(lambda: timer.sleepers)
        (new,) = await sealed(service, 1)
        while not reading.done():
            await timer.advance(15)
            await until(lambda: timer.sleepers or reading.done())
        page = await reading

        first, event, *comments = page.text.strip().split("\n\n")
        assert first == ": no event"
        assert id_of(event) == new.id
        assert set(comments) == {": no event"}
        assert 35 < len(comments) <= 40  # ten minutes, a comment each 15 seconds

    async def test_a_store_that_fails_on_the_way_ends_the_response(
        self, service, owner, monkeypatch
    ):
        monkeypatch.setattr(stream_handler, "_KEEPALIVE_SECONDS", 0.05)
        await sealed(service, 1)
        find, calls = service.store.find, []

        async def failing(collection, *arguments, **options):
            if collection is EVENTS:
                calls.append(1)
                if len(calls) > 1:
                    raise Unavailable("gone")
            return await find(collection, *arguments, **options)

        monkeypatch.setattr(service.store, "find", failing)
        page = await owner.get(f"{PATH}?stream=access", Accept="text/event-stream")

        assert page.status == 200
        assert page.text.startswith("id: ")
        assert service.waiting_readers.count == 0
