"""Responses that can't be completed: the client does not take the part for the whole."""

from __future__ import annotations

import json
from contextlib import closing
from urllib.parse import urlsplit

import pytest

from handlers.http import response_parts
from idp.management.instance import events as instance_events
from storage import Unavailable
from tests.support.browsers.raw_socket import received, unread
from tests.support.browsers.wire import exchange
from tests.support.measured.logged import log_fixture  # noqa: F401 - a fixture
from tests.support.store.auditing import store_events

PATH = "/admin/v1/events/_search"
VERSIONS = ["HTTP/1.1", "HTTP/1.0"]
EVENTS = 150  # more than a page


def request(server, owner, version, method="POST"):
    body = b'{"eventTypes":["session.opened"]}'
    lines = [
        f"{method} {PATH} {version}",
        f"Host: {urlsplit(server.issuer).netloc}",
        f"Authorization: Bearer {owner.token}",
        "Accept: application/x-ndjson",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
    ]
    return "\r\n".join([*lines, "", ""]).encode() + body


async def answered(server, owner, version):
    """What a search of events is answered with, and whether the connection is reset then."""
    await store_events(server.service, EVENTS, "session.opened")
    raw = request(server, owner, version)
    with closing(unread(urlsplit(server.issuer).port, raw)) as client:
        return await received(client, b"0\r\n\r\n")


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(response_parts, "PART_BYTES", 0)


@pytest.fixture
def failing(monkeypatch):
    """Has each search fail by an error after its first page."""
    pages = instance_events._page

    def fail_by(error):
        async def failing(service, query, org_id=None):
            if query.cursor:
                raise error
            return await pages(service, query, org_id)

        monkeypatch.setattr(instance_events, "_page", failing)

    return fail_by


def logged(log):
    return [json.loads(line) for line in log.getvalue().splitlines()]


@pytest.mark.promise("faults: incomplete responses")
@pytest.mark.parametrize("version", VERSIONS)
async def test_after_a_failure_of_the_store_the_connection_is_reset(
    server, owner, failing, counted, log, version
):
    failing(Unavailable("the store is away"))

    part, is_reset = await answered(server, owner, version)

    assert part.startswith(b"HTTP/1.1 200 ")
    assert is_reset
    assert not part.endswith(b"0\r\n\r\n")
    refusal, line = logged(log)
    assert (refusal["event"], refusal["error"]) == ("refused", "Unavailable")
    assert refusal["cause"] == "the store is away"
    assert refusal["request_id"] == line["request_id"]
    assert (line["event"], line["level"]) == ("request", "warning")
    assert (line["status"], line["aborted"]) == (503, True)
    answer = {"endpoint": "management", "method": "POST"}
    assert counted("http_requests_total", **answer, status="503") == 1
    assert counted("http_requests_total", **answer, status="200") is None
    assert counted("http_connections_closed_total", reason="failed") == 1


@pytest.mark.promise("faults: incomplete responses")
@pytest.mark.parametrize("version", VERSIONS)
async def test_after_a_failure_of_the_service_the_connection_is_reset(
    server, owner, failing, log, version
):
    failing(LookupError("a defect"))

    _, is_reset = await answered(server, owner, version)

    assert is_reset
    failure, line = logged(log)
    assert failure["event"] == "failed"
    assert "LookupError: a defect" in failure["exception"]
    assert (line["status"], line["aborted"]) == (500, True)


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_complete_response_ends_without_a_reset(server, owner, log, version):
    complete, is_reset = await answered(server, owner, version)

    assert complete.count(b'"session.opened"') == EVENTS
    assert complete.endswith(b"0\r\n\r\n" if version == "HTTP/1.1" else b"}\n")
    assert not is_reset
    (line,) = logged(log)
    assert line["status"] == 200
    assert "aborted" not in line


async def test_head_is_refused_without_a_body(server, owner):
    answer = await exchange(server, request(server, owner, "HTTP/1.0", "HEAD"))

    assert (answer.status_code, answer.content) == (405, b"")


async def test_lines_are_read_in_large_pages_however_small_the_client_wants_them(
    server, owner, monkeypatch
):
    await store_events(server.service, EVENTS, "session.opened")
    reads, find = [], type(server.store).find

    async def counting(self, *given, **more):
        reads.append(given)
        return await find(self, *given, **more)

    monkeypatch.setattr(type(server.store), "find", counting)
    answer = await owner.post(
        PATH, {"limit": 1, "eventTypes": ["session.opened"]}, Accept="application/x-ndjson"
    )

    assert len(answer.text.splitlines()) == EVENTS
    assert len(reads) < 5
