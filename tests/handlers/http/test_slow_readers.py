"""A client that reads its response slowly keeps no place from others."""

from __future__ import annotations

import asyncio
import json
from contextlib import closing
from urllib.parse import urlsplit

import pytest
from msgspec import structs

from idp.limits import admission
from idp.limits.admission import BULK, GROUPS, MANAGEMENT, PAGES, Admission
from idp.management.instance import events as instance_events
from idp.management.instance.events import _EventPage
from idp.management.users import personal_data
from idp.management.users import search as user_search
from idp.transfer.calls import export_document
from tests.support.browsers.raw_socket import received, unread
from tests.support.management import console
from tests.support.measured.logged import log_fixture  # noqa: F401 - a fixture
from tests.support.patience import until
from tests.support.sign_in import account
from tests.support.store.auditing import new_event

SIZE = 6_500_000  # bytes: more than the kernel takes for a client that does not read
pytestmark = [pytest.mark.full, pytest.mark.gen_test(timeout=180)]
PAGE = 66  # events of 50 kB, two pages of which are as large
LAST_CHUNK = b"\r\n0\r\n\r\n"


def request(server, method, target, *lines, body=b""):
    lines = [f"{method} {target} HTTP/1.1", f"Host: {urlsplit(server.issuer).netloc}", *lines]
    lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"] if body else []
    return "\r\n".join([*lines, "", ""]).encode() + body


def events_request(server, owner):
    fields = [f"Authorization: Bearer {owner.token}", "Accept: application/x-ndjson"]
    return request(server, "POST", "/admin/v1/events/_search", *fields, body=b'{"asc":true}')


def many_events(server, monkeypatch):
    """Has each search find two pages with megabytes of events."""
    event = new_event(server.service, "session.opened", payload=[("text", "x" * 50_000)])

    async def page(service, query, org_id=None):
        return _EventPage([event] * PAGE, None if query.cursor else (event.at, "1"))

    monkeypatch.setattr(instance_events, "_page", page)


async def event_lines(server, visitor, owner, monkeypatch):
    many_events(server, monkeypatch)
    return events_request(server, owner)


async def export(server, visitor, owner, monkeypatch):
    async def write(service, actor, request, file, *_):
        file.write(json.dumps({"orgs": [{"text": "x" * SIZE}]}).encode())

    monkeypatch.setattr(export_document, "write", write)
    token = f"Authorization: Bearer {owner.token}"
    return request(server, "POST", "/admin/v1/export", token, body=b"{}")


async def console_download(server, visitor, owner, monkeypatch):
    await console.admin(server, visitor)
    many_events(server, monkeypatch)
    path = "/ui/console/events/installation/download"
    return request(server, "GET", path, cookies(visitor))


async def users_csv(server, visitor, owner, monkeypatch):
    search = user_search.search

    async def found(*arguments):
        page = await search(*arguments)
        (user, *_) = [each for each in page.result if each.human]
        profile = structs.replace(user.human.profile, display_name="x" * 50_000)
        user = structs.replace(user, human=structs.replace(user.human, profile=profile))
        return structs.replace(page, result=[user] * (2 * PAGE))

    await console.admin(server, visitor)
    monkeypatch.setattr(user_search, "search", found)
    return request(server, "GET", "/ui/console/users.csv", cookies(visitor))


async def account_download(server, visitor, owner, monkeypatch):
    async def pieces(*_):
        for _ in range(SIZE // 10_000):
            yield b"x" * 10_000

    await account.enter(server, visitor)
    monkeypatch.setattr(personal_data, "document_chunks", pieces)
    return request(server, "GET", "/ui/account/data/download", cookies(visitor))


def cookies(visitor):
    return "Cookie: " + "; ".join(f"{each.name}={each.value}" for each in visitor.cookies.jar)


RESPONSES = {
    event_lines: BULK,
    export: BULK,
    console_download: MANAGEMENT,
    users_csv: MANAGEMENT,
    account_download: PAGES,
}


@pytest.mark.promise("overload: places")
@pytest.mark.parametrize("response", RESPONSES, ids=lambda response: response.__name__)
async def test_who_does_not_read_takes_no_place_and_gets_all_later(
    server, visitor, owner, monkeypatch, response
):
    raw = await response(server, visitor, owner, monkeypatch)
    places = server.app.admission.slots_of(RESPONSES[response])

    with closing(unread(urlsplit(server.issuer).port, raw)) as client:
        head, _ = await received(client, b"\r\n\r\n")
        await until(lambda: not places.in_use)
        assert server.app._in_progress
        end = b"}]}" if response is export else LAST_CHUNK
        rest, is_reset = await received(client, end)

    assert head.startswith(b"HTTP/1.1 200 ")
    assert len(head + rest) > SIZE
    assert (rest.endswith(end), is_reset) == (True, False)
    await server.app.drained(10)
    assert places.in_use == 0


def limit(server, monkeypatch):
    """Has the service answer one request of each group at once; who waits is soon refused."""
    monkeypatch.setattr(admission, "RETRY_AFTER_SECONDS", range(1))
    groups = [structs.replace(each, max_running=1, max_wait_seconds=0.02) for each in GROUPS]
    server.app.admission = Admission(server.service.random, server.service.timer, groups)
    return server.app.admission.slots_of(BULK)


async def test_a_response_that_has_begun_goes_on_when_there_is_a_place_again(
    server, owner, monkeypatch, counted
):
    many_events(server, monkeypatch)
    places = limit(server, monkeypatch)
    refused = {"group": BULK.name, "reason": "wait"}

    with closing(unread(urlsplit(server.issuer).port, events_request(server, owner))) as client:
        head, _ = await received(client, b"\r\n\r\n")
        await until(lambda: not places.in_use)
        other = places.enter("198.51.100.1")
        reading = asyncio.ensure_future(received(client, LAST_CHUNK))
        await until(lambda: (counted("shed_total", **refused) or 0) > 1)
        assert not reading.done()
        other.release()
        rest, is_reset = await reading

    assert (head + rest).count(b'"payload"') == 2 * PAGE
    assert not is_reset
    await server.app.drained(10)
    assert (places.in_use, places.waiting) == (0, 0)


async def test_who_leaves_within_the_response_leaves_no_place_taken_and_no_failure_in_the_log(
    server, owner, monkeypatch, log
):
    many_events(server, monkeypatch)
    places = server.app.admission.slots_of(BULK)

    with closing(unread(urlsplit(server.issuer).port, events_request(server, owner))) as client:
        await received(client, b"\r\n\r\n")
        await until(lambda: not places.in_use)
    await server.app.drained(10)

    await until(lambda: '"request"' in log.getvalue())
    (line,) = [json.loads(line) for line in log.getvalue().splitlines()]
    assert (line["event"], line["status"], line["aborted"]) == ("request", 200, True)
    assert (places.in_use, places.waiting) == (0, 0)
