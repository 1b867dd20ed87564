"""Requests beyond what the service answers at once: they wait, or are refused."""

from __future__ import annotations

import asyncio
import json
import random

import pytest
from msgspec import structs

from handlers.http import base
from idp.foundation import logs, metrics
from idp.foundation.log_repetition import Repetitions
from idp.limits.admission import (
    BULK,
    GROUPS,
    HEALTH,
    MANAGEMENT,
    PAGES,
    PROTOCOL,
    PUBLIC,
    Admission,
)
from idp.oauth.grants import TokenResponse
from tests.support import patience
from tests.support.browsers.wire import FORM, exchange, get, head, opened
from tests.support.measured.logged import log_fixture  # noqa: F401 - a fixture
from tests.support.patience import loop_turns, until
from tests.support.store.untouched import untouched_store_fixture  # noqa: F401 - a fixture

AT = {
    PUBLIC: "/.well-known/openid-configuration",
    PROTOCOL: "/oidc/v1/userinfo",
    PAGES: "/ui/login",
    MANAGEMENT: "/admin/v1/instance",
    BULK: "/admin/v1/export",
}


@pytest.fixture
def settings():
    return {"trusted_proxies": ("127.0.0.0/8",)}


def limit(server, max_running=1, max_waiting=1, seconds=10.0):
    """Has the service of a test so few places in each group but that of health checks."""
    groups = [
        structs.replace(
            group, max_running=max_running, max_waiting=max_waiting, max_wait_seconds=seconds
        )
        if group is not HEALTH
        else group
        for group in GROUPS
    ]
    server.app.admission = Admission(server.service.random, server.service.timer, groups)


def fill(server, *groups, network="198.51.100.1"):
    """Takes every place of the groups, and every one of their queues; returns the places."""
    places = []
    for group in groups:
        place = server.app.admission.slots_of(group).enter(network)
        while place.refusal is None:
            places.append(place)
            place = server.app.admission.slots_of(group).enter(network)
    return places


def in_use(server):
    places = [server.app.admission.slots_of(group) for group in GROUPS]
    return sum(each.in_use for each in places), sum(each.waiting for each in places)


@pytest.fixture
def counting(tmp_path):
    """Has this process count; returns what a scrape shows."""
    metrics.reserve(tmp_path, "0", is_worker=True)
    metrics.enable(tmp_path, "0")

    def shown(name, **labels):
        return metrics.collected(tmp_path).get_sample_value(f"idp_{name}", labels)

    yield shown
    metrics.disable()


def assert_refused(answer):
    assert answer.status_code == 503
    assert 1 <= int(answer.headers["Retry-After"]) <= 3
    assert answer.headers["X-Request-Id"]


@pytest.mark.promise("overload: answers")
async def test_a_refused_token_request_is_answered_before_its_body_arrives(
    server, untouched_store
):
    limit(server)
    fill(server, PROTOCOL)
    untouched_store(server)
    announced = [f"Content-Type: {FORM}", "Content-Length: 100"]

    answer = await exchange(server, head(server, "POST", "/oauth/v2/token", *announced))

    assert_refused(answer)
    assert answer.json()["error"] == "temporarily_unavailable"
    assert answer.headers["Connection"] == "close"
    assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.promise("overload: answers")
@pytest.mark.parametrize("group", [MANAGEMENT, BULK], ids=lambda group: group.name)
async def test_the_management_api_refuses_as_busy(server, untouched_store, group):
    limit(server)
    fill(server, group)
    untouched_store(server)
    method = "POST" if group is BULK else "GET"
    token = f"Authorization: Bearer idp_pat_{'A' * 65}"  # what can be none takes no place there
    lines = (token, "Connection: close", "Content-Length: 0")

    answer = await exchange(server, head(server, method, AT[group], *lines))

    assert_refused(answer)
    assert answer.json()["code"] == 14
    assert answer.json()["details"][0]["id"] == "busy"


@pytest.mark.promise("overload: answers")
async def test_a_person_gets_a_page_that_leads_to_the_same_address(server, untouched_store):
    limit(server)
    fill(server, PAGES)
    untouched_store(server)

    answer = await get(server, b"/ui/login?flow=x&lang=en", "Accept: text/html")

    assert_refused(answer)
    assert "The service is busy" in answer.text
    assert 'href="/ui/login?flow=x&amp;lang=en"' in answer.text


@pytest.mark.promise("overload: answers")
async def test_public_documents_are_refused_as_the_endpoints_of_the_protocol_are(
    server, untouched_store
):
    limit(server)
    fill(server, PUBLIC)
    untouched_store(server)

    answer = await get(server, AT[PUBLIC].encode())

    assert_refused(answer)
    assert answer.json()["error"] == "temporarily_unavailable"


@pytest.mark.promise("overload: answers")
async def test_the_console_refuses_by_a_page(server, untouched_store):
    limit(server)
    fill(server, MANAGEMENT)
    untouched_store(server)

    answer = await get(server, b"/ui/console/users?lang=en", "Accept: text/html")

    assert_refused(answer)
    assert "The service is busy" in answer.text
    assert 'href="/ui/console/users?lang=en"' in answer.text


@pytest.mark.promise("overload: groups")
async def test_health_checks_wait_for_nothing_but_their_own_turn(server):
    limit(server)
    fill(server, *AT)
    health = server.app.admission.slots_of(HEALTH)
    places = [health.enter("198.51.100.1") for _ in range(1000)]

    assert (await get(server, b"/healthz")).status_code == 200
    assert not any(place.refusal for place in places)


@pytest.mark.promise("overload: groups")
@pytest.mark.parametrize("full", AT, ids=lambda group: group.name)
async def test_a_full_group_delays_no_other_one(server, full):
    limit(server)
    fill(server, full)

    for group, target in AT.items():
        if group not in (full, BULK):
            assert (await get(server, target.encode())).status_code != 503
    for target in (b"/healthz", b"/readyz"):
        assert (await get(server, target)).status_code == 200


@pytest.mark.promise("overload: turns")
async def test_another_network_is_served_next_whatever_waits_before(server):
    limit(server, max_waiting=20)
    first, *waiting = fill(server, PROTOCOL)
    answering = asyncio.ensure_future(
        get(server, AT[PROTOCOL].encode(), "X-Forwarded-For: 192.0.2.7")
    )
    places = server.app.admission.slots_of(PROTOCOL)
    await until(lambda: sum(place.is_waiting for place in waiting) < 20)

    first.release()
    assert waiting[0].is_taken
    waiting[0].release()

    assert (await answering).status_code == 401
    assert places.waiting == 17
    assert waiting[1].is_taken


async def test_a_request_that_waited_is_answered_as_any_other(server, visitor, demo):
    limit(server, max_waiting=5)
    place = server.app.admission.slots_of(PROTOCOL).enter("198.51.100.1")
    places = server.app.admission.slots_of(PROTOCOL)
    asking = visitor.post("/oauth/v2/introspect", {"token": "x"}, headers=demo.basic())
    answering = asyncio.ensure_future(asking)
    await until(lambda: places.waiting == 1)

    place.release()

    assert (await answering).json() == {"active": False}
    assert in_use(server) == (0, 0)


async def test_what_waits_and_what_is_refused_is_counted_by_group(server, counting):
    limit(server)
    fill(server, PROTOCOL)
    await get(server, AT[PROTOCOL].encode())
    server.app.admission.measure()

    assert counting("http_in_flight", group="protocol") == 1
    assert counting("http_waiting", group="protocol") == 1
    assert counting("shed_total", group="protocol", reason="queue") == 2


async def test_who_waits_too_long_is_refused(server):
    limit(server, max_waiting=5, seconds=0.05)
    place = server.app.admission.slots_of(PROTOCOL).enter("198.51.100.1")

    assert_refused(await get(server, AT[PROTOCOL].encode()))

    place.release()
    assert (await get(server, AT[PROTOCOL].encode())).status_code == 401
    assert in_use(server) == (0, 0)


@pytest.mark.full
@pytest.mark.promise("overload: places")
async def test_who_leaves_while_waiting_is_not_waited_for(server, log):
    limit(server, max_waiting=5)
    place = server.app.admission.slots_of(PROTOCOL).enter("198.51.100.1")
    places = server.app.admission.slots_of(PROTOCOL)

    async with opened(server, head(server, "GET", AT[PROTOCOL])):
        await until(lambda: places.waiting == 1)
    await until(lambda: places.waiting == 0)
    place.release()

    await server.app.drained(10)
    assert in_use(server) == (0, 0)
    assert "request" not in log.getvalue()


@pytest.mark.promise("overload: places")
async def test_a_body_that_is_late_takes_no_place_until_it_is_there(server, demo, monkeypatch):
    monkeypatch.setattr(base, "PROMPT_SECONDS", 0.02)
    limit(server)
    lines = [f"Content-Type: {FORM}", "Content-Length: 7", "Connection: close"]
    lines += [f"{name}: {value}" for name, value in demo.basic().items()]

    async with opened(server, head(server, "POST", "/oauth/v2/introspect", *lines)) as (
        reader,
        writer,
    ):
        places = server.app.admission.slots_of(PROTOCOL)
        await until(lambda: any("post" in vars(each) for each in server.app._in_progress))
        assert places.in_use == 0
        other = server.app.admission.slots_of(PROTOCOL).enter("198.51.100.1")
        writer.write(b"token=x")
        await until(lambda: places.waiting == 1)
        other.release()
        answer = await reader.read()

    assert answer.endswith(b'{"active":false}')
    assert in_use(server) == (0, 0)


@pytest.mark.full
@pytest.mark.promise("overload: places")
async def test_who_leaves_while_the_answer_is_made_keeps_the_place_until_it_is_done(
    server, monkeypatch
):
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def slow(*_):
        begun.set()
        await go_on.wait()
        return TokenResponse({})

    monkeypatch.setattr("handlers.protocol.token.grants.respond", slow)
    lines = [f"Content-Type: {FORM}", "Content-Length: 3"]
    async with opened(server, head(server, "POST", "/oauth/v2/token", *lines) + b"a=b"):
        await begun.wait()
    await server.app.drained(10)

    assert in_use(server) == (1, 0)
    go_on.set()
    await until(lambda: in_use(server) == (0, 0))


async def test_refused_requests_write_one_line_a_second_for_their_group(server, log, monkeypatch):
    monkeypatch.setattr(logs, "_repetitions", Repetitions(lambda: 0.0))
    limit(server)
    fill(server, PROTOCOL)

    for _ in range(5):
        await get(server, AT[PROTOCOL].encode())
    held = logs._repetitions._windows[
        ("idp.limits.admission", "warning", "requests refused for overload: protocol")
    ].held

    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    assert [line["event"] for line in lines] == ["requests refused for overload: protocol"]
    assert lines[0]["reason"] == "queue"
    assert held == 4


@pytest.mark.full
@pytest.mark.promise("overload: places")
@pytest.mark.parametrize("seed", range(3))
async def test_whatever_clients_do_no_place_is_lost(server, monkeypatch, seed):
    monkeypatch.setattr(base, "PROMPT_SECONDS", 0.005)
    limit(server, max_running=3, max_waiting=6, seconds=0.05)
    drawn = random.Random(seed)

    await asyncio.gather(*(visit(server, drawn) for _ in range(60)))

    await server.app.drained(10)
    await until(lambda: in_use(server) == (0, 0))


async def visit(server, drawn):
    """One client that sends a request, in whole or in part, and then reads or leaves."""
    method, target = drawn.choice(
        [
            ("GET", "/oidc/v1/userinfo"),
            ("GET", "/ui/login?flow=x"),
            ("GET", "/admin/v1/instance"),
            ("POST", "/oauth/v2/token"),
            ("POST", "/oauth/v2/introspect"),
            ("POST", "/admin/v1/export"),
            ("BREW", "/oauth/v2/token"),
            ("DELETE", "/oauth/v2/token"),
            ("GET", "/nowhere"),
        ]
    )
    body = b"grant_type=x" if method == "POST" else b""
    network = f"X-Forwarded-For: 192.0.2.{drawn.randrange(4)}"
    lines = [network, f"Content-Type: {FORM}", f"Content-Length: {len(body)}"]
    sent = head(server, method, target, *lines, "Connection: close") + body
    await loop_turns(drawn.randrange(50))
    cut = drawn.choice([len(sent), len(sent), len(sent) - len(body) // 2, drawn.randrange(9)])
    async with opened(server, sent[:cut]) as (reader, writer):
        if drawn.random() < 0.4:
            await loop_turns(drawn.randrange(30))
            return
        writer.write(sent[cut:])
        assert (await asyncio.wait_for(reader.read(), patience.SECONDS)).startswith(b"HTTP/1.1 ")


async def test_a_health_check_that_holds_is_no_line_of_the_access_log(visitor, server, log):
    statuses = [(await visitor.get(path)).status for path in ("/healthz", "/readyz")]
    server.app.is_draining = True
    visitor.may_fail = True
    failed = await visitor.get("/readyz")

    assert (statuses, failed.status) == ([200, 200], 503)
    lines = [line for line in map(json.loads, log.getvalue().splitlines()) if "path" in line]
    assert [(line["path"], line["status"]) for line in lines] == [("/readyz", 503)]
