"""Spans of the store, of hashes and of calls, and their export to a collector."""

from __future__ import annotations

import asyncio
import json
import socket
import time
import uuid
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest

pytest.importorskip("opentelemetry.sdk")

from idp.foundation import tracing
from idp.foundation.tracing import exporting
from storage import Conflict, Insert, open_store
from tests.storage.records import ALL, USERS, user
from tests.support.measured.logged import logged


@asynccontextmanager
async def exported(url, ratio=1.0, **headers):
    async with exporting.running(f"{url}/v1/traces", headers, ratio, {"service.name": "idp"}):
        yield


@asynccontextmanager
async def opened_store():
    store = open_store(
        "memory://",
        now=lambda: datetime.now(UTC),
        new_id=lambda: uuid.uuid4().hex,
        observers=tracing.observers(),
    )
    await store.open(ALL)
    try:
        yield store
    finally:
        await store.close()


def unused_url():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{one.getsockname()[1]}"


async def answering(name, work):
    """Do some work as a request does."""
    request = tracing.begin_request(name, "GET", None, is_trusted=False)
    await work
    request.end(f"/{name}", 200)


async def test_requests_that_share_a_write_are_linked_to_one_batch(collector):
    async with exported(collector.url), opened_store() as store:
        # The first unit occupies the writer; the others wait and then share a transaction.
        units = [store.commit(Insert(USERS, user(f"u{n}"))) for n in range(30)]
        await asyncio.gather(*(answering(f"r{n}", unit) for n, unit in enumerate(units)))

    commits, batches = collector.named("store.commit"), collector.named("store.batch")
    waiters = {span.id: span for span in commits}
    assert len({span.trace for span in commits}) == 30
    assert max(len(batch.links) for batch in batches) > 0
    for batch in batches:
        shared = [waiters[batch.parent], *(waiters[link] for link in batch.links)]
        assert batch.trace == shared[0].trace
        assert all(each.links == [batch.id] for each in shared)
        assert batch.attributes["db.system.name"] == "sqlite"
        assert batch.attributes.get("db.operation.batch.size", 1) == len(shared)
        assert batch.kind == "CLIENT"
    assert sum(1 + len(batch.links) for batch in batches) == 30


async def test_a_call_of_the_store_has_its_waiting_its_answer_and_its_outcome(collector):
    async with exported(collector.url), opened_store() as store:
        await store.commit(Insert(USERS, user("a")))

        async def work():
            await store.get(USERS, "a")
            with pytest.raises(Conflict):
                await store.commit(Insert(USERS, user("a")))

        await answering("r", work())

    (read,), (commit,) = collector.named("store.read"), collector.named("store.commit")
    assert (read.attributes["idp.store.method"], read.attributes["idp.store.outcome"]) == (
        "get",
        "ok",
    )
    assert commit.attributes["idp.store.outcome"] == "conflict"
    assert not commit.is_failed
    assert commit.attributes["idp.store.answer_ms"] > 0
    assert commit.attributes["idp.store.waited_ms"] >= 0


async def test_what_no_request_waits_for_has_no_spans(collector):
    async with exported(collector.url), opened_store() as store:
        await store.commit(Insert(USERS, user("a")))
        with tracing.internal("hash"):
            pass

    assert collector.spans == []


async def test_a_call_outside_of_a_request_begins_a_trace(collector):
    async with exported(collector.url):
        with tracing.attempt(3), tracing.call("mail", "mail.example.com"):
            pass

    (span,) = collector.spans
    assert (span.name, span.kind, span.parent) == ("mail", "CLIENT", "")
    assert span.attributes == {"server.address": "mail.example.com", "idp.attempt": 3}


async def test_a_call_that_fails_names_the_kind_of_its_error(collector):
    async with exported(collector.url):
        with pytest.raises(TimeoutError), tracing.call("call a.example", "a.example"):
            raise TimeoutError("with a secret")

    (span,) = collector.spans
    assert span.attributes["error.type"] == "TimeoutError"
    assert span.is_failed
    assert b"secret" not in b"".join(collector.bodies)


async def test_the_collector_gets_the_headers_and_the_description_of_the_process(collector):
    async with exported(collector.url, authorization="Bearer 4711"):
        with tracing.call("mail", "a"):
            pass

    assert collector.headers[0]["authorization"] == "Bearer 4711"
    assert collector.resources == [{"service.name": "idp"}]


async def test_the_header_of_a_call_names_its_span(collector):
    async with exported(collector.url):
        assert tracing.headers() == {}
        with tracing.call("mail", "a"):
            header = tracing.headers()["traceparent"]

    (span,) = collector.spans
    assert header == f"00-{span.trace}-{span.id}-01"


@pytest.mark.full
async def test_a_collector_that_refuses_spans_is_reported_without_the_headers(collector):
    collector.status = 400  # which is not repeated
    with logged() as stream:
        async with exported(collector.url, authorization="Bearer 4711"):
            with tracing.call("mail", "a"):
                pass

    (failed,) = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert failed["event"].startswith("Failed to export spans batch code: 400")
    assert "4711" not in stream.getvalue()


@pytest.mark.load
async def test_a_dead_collector_does_not_delay_the_end(monkeypatch):
    monkeypatch.setattr(exporting, "FLUSH_SECONDS", 0.2)
    async with exported(unused_url()):
        with tracing.call("mail", "a"):
            pass
        began = time.monotonic()

    assert time.monotonic() - began < 2


@pytest.mark.parametrize("ratio", [0.0, 0.25, 1.0])
async def test_the_ratio_is_the_share_of_traces_that_is_sampled(collector, ratio):
    async with exported(collector.url, ratio):
        for n in range(400):
            await answering(f"r{n}", asyncio.sleep(0))

    sampled = len(collector.spans) / 400
    assert abs(sampled - ratio) < 0.12


async def test_without_traces_nothing_is_made():
    assert not tracing.is_on()
    assert not tracing.observers()
    assert tracing.begin_request("r", "GET", None, is_trusted=True) is None
    assert tracing.headers() == {}
    with tracing.internal("hash") as one, tracing.call("mail", "a") as other:
        assert one is other
