"""What the access log says of the calls of the store that a request has made."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from idp.foundation import logs
from idp.foundation.metrics import request_costs
from idp.foundation.metrics.request_costs import StoreCosts
from storage.observer import Batch

MILLISECOND = 1_000_000


@pytest.fixture
def passing(monkeypatch):
    """Lets time pass, in milliseconds."""
    now = [0]
    monkeypatch.setattr(request_costs, "perf_counter_ns", lambda: now[0])

    def passes(milliseconds):
        now[0] += milliseconds * MILLISECOND
        return now[0]

    return passes


def test_calls_are_counted_with_their_time_and_how_long_they_waited(passing):
    observer = StoreCosts()
    request_costs.begin_request()

    read = observer.began("read", "get")
    passing(2)
    observer.ended(read, None)
    write = observer.began("write", "commit")
    sent_at = passing(3)
    observer.batch(Batch("sqlite", "write", "transaction", [write, None], sent_at))
    passing(5)
    observer.ended(write, ValueError())

    assert request_costs.log_fields() == {
        "store_commands": 2,
        "store_milliseconds": 10.0,
        "waited_milliseconds": 3.0,
    }


def test_the_time_until_a_request_has_its_turn_counts_as_waited(passing):
    request_costs.begin_request()
    with suppress(ValueError), request_costs.waiting():
        passing(7)
        raise ValueError("refused all the same")

    assert request_costs.log_fields() == {
        "store_commands": 0,
        "store_milliseconds": 0.0,
        "waited_milliseconds": 7.0,
    }


async def test_requests_at_the_same_time_have_costs_of_their_own(passing):
    observer = StoreCosts()

    async def request(calls):
        request_costs.begin_request()
        for _ in range(calls):
            call = observer.began("read", "get")
            await asyncio.sleep(0)
            observer.ended(call, None)
        return request_costs.log_fields()["store_commands"]

    found = await asyncio.gather(*(asyncio.create_task(request(n)) for n in (1, 3, 2)))

    assert found == [1, 3, 2]


def test_a_request_without_a_call_has_no_costs_and_work_of_nobody_is_not_counted():
    request_costs.begin_request()
    assert request_costs.log_fields() == {}

    token = request_costs._request.set(None)
    observer = StoreCosts()
    call = observer.began("read", "get")
    observer.batch(Batch("mongodb", "read", "find", [call], 0))
    observer.ended(call, None)
    request_costs._request.reset(token)

    assert call is None
    assert request_costs.log_fields() == {}


def test_another_primary_is_logged(lines):
    StoreCosts().primary_changed("db2:27017")

    (line,) = lines()
    assert (line["level"], line["event"]) == ("warning", "the store has another primary")
    assert line["primary"] == "db2:27017"


def test_lines_have_what_is_known_of_the_request_and_the_process(lines):
    logs.begin_request("one")
    logs.name_worker(3)
    logs.bind(client_id="shop", org_id="acme", refused_check="code_unused")
    logs.logger("idp.test").info("something")

    (line,) = lines()
    known = {"worker": 3, "client_id": "shop", "org_id": "acme", "refused_check": "code_unused"}
    assert line.items() >= known.items()
