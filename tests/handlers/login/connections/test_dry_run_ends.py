"""The test of a connection works once, in its time, for the connection that it was started for."""

from __future__ import annotations

import asyncio
from urllib.parse import parse_qsl, urlsplit

import pytest

from idp.management.connections.connection_tests import MAX_TESTS
from idp.records.connection_tests import CONNECTION_TESTS
from storage import Update
from tests.support.management.callers import refused
from tests.support.management.connecting import ADMIN, Connecting
from tests.support.sign_in.dry_running import dry_run, failed, left, result_of, started
from tests.support.sign_in.federating import NAMES
from tests.support.store.both_stores import on_both_stores, store_as_marked  # noqa: F401
from tests.support.store.stored import everything

PERSON = {**NAMES, "email": "ada@corp.example", "email_verified": True}


@pytest.mark.promise("connections: dry run")
@on_both_stores
async def test_a_test_is_used_up_by_its_first_answer(federation, provider, new_visitor):
    """Two browsers leave, and each sends its answer twice at once."""
    test, url = await started(federation)
    visitors = [federation.visitor, new_visitor()]
    pages = [await left(federation, url, each) for each in visitors]
    addresses = [provider.answer_at(each) for each in pages]
    for page in pages:
        provider.nonces["a code"] = dict(parse_qsl(urlsplit(page.location).query))["nonce"]

    ends = await asyncio.gather(
        *(
            visitor.open(address)
            for visitor, address in zip(visitors, addresses, strict=True)
            for _ in range(2)
        )
    )

    assert {each.name for each in ends} <= {"connection-test", "expired"}
    assert len([path for path, *_ in provider.calls if path == "/token"]) == 1
    assert (await result_of(federation, test))["state"] == "finished"
    again = await visitors[1].open(url)
    assert "is finished" in again.text
    refusal = await visitors[1].post(url, {})
    assert (refusal.status, refusal.name) == (410, "expired")


async def test_the_answer_counts_in_the_browser_that_left_alone(federation, new_visitor):
    test, url = await started(federation)
    page = await left(federation, url)

    end = await federation.come_back(page, new_visitor())

    assert (end.status, end.name) == (410, "expired")
    assert (await result_of(federation, test))["state"] == "waiting"


async def test_a_test_can_be_begun_for_fifteen_minutes(server, federation):
    test, url = await started(federation)
    server.clock.advance(899)
    assert (await federation.visitor.open(url)).name == "connection-test"
    server.clock.advance(1)

    page = await federation.visitor.open(url)

    assert (page.status, page.name) == (410, "expired")
    assert (await federation.visitor.post(url, {})).status == 410
    assert (await result_of(federation, test))["state"] == "expired"


async def test_an_answer_after_the_end_of_the_test_is_not_taken(server, federation, provider):
    test, url = await started(federation)
    server.clock.advance(890)
    page = await left(federation, url)
    server.clock.advance(11)

    end = await federation.come_back(page)

    assert end.name == "expired"
    assert (await result_of(federation, test))["state"] == "expired"
    assert not [path for path, *_ in provider.calls if path == "/token"]


async def test_another_key_opens_no_test(federation):
    test, url = await started(federation)
    address, _, right = url.partition("?key=")

    for key in ("", "x", test, test + "A" * 43, "ä" * 65, f"{right}A"):
        page = await federation.visitor.open(f"{address}?key={key}")
        assert (page.status, page.name) == (410, "expired"), key
    by_id = await federation.visitor.open(f"{address}?test={test}")
    assert (by_id.status, by_id.name) == (410, "expired")


async def test_a_form_of_another_site_begins_no_test(federation, provider):
    _, url = await started(federation)
    headers = {"Sec-Fetch-Site": "cross-site"}

    page = await federation.visitor.post(url, {}, headers=headers)

    assert page.status == 403
    assert provider.calls == []


async def test_a_test_whose_process_ended_is_running_and_then_expired(server, federation):
    test, _ = await started(federation)
    answered = {"answered_at": server.clock.now()}
    await server.store.commit(Update(CONNECTION_TESTS, test, set=answered))
    assert (await result_of(federation, test))["state"] == "running"

    server.clock.advance(15 * 60)

    assert (await result_of(federation, test))["state"] == "expired"


async def test_a_connection_that_was_changed_meanwhile_is_named(federation, provider):
    test, url = await started(federation)
    page = await left(federation, url)
    await federation.change(clientId="another")

    await federation.come_back(page)

    assert failed(await result_of(federation, test)) == ["connection_usable"]
    assert not [path for path, *_ in provider.calls if path == "/token"]


@pytest.mark.promise("connections: dry run")
@on_both_stores
async def test_a_result_is_stored_sealed_for_a_day(server, federation, provider):
    provider.claims = {**PERSON, "secret_of_the_person": "planted-value"}
    test, url = await started(federation)
    await federation.come_back(await left(federation, url))

    stored = str(await everything(server.store))

    assert "planted-value" not in stored
    assert "ada@corp.example" not in stored
    assert url.partition("?key=")[2] not in stored
    assert await server.store.get(CONNECTION_TESTS, test) is not None
    server.clock.advance(24 * 3600)
    assert await server.store.get(CONNECTION_TESTS, test) is None


async def test_what_is_not_there_is_refused(server, federation, owner):
    test, _ = await started(federation)
    elsewhere = Connecting(owner, None, ADMIN)
    before = await everything(server.store)
    cases = (
        (federation.connecting, "POST", "/idps/nobody/_test", "connection.not_found"),
        (federation.connecting, "GET", f"/idps/nobody/tests/{test}", "connection.not_found"),
        (
            federation.connecting,
            "GET",
            f"/idps/{federation.connection}/tests/nobody",
            "connection.test_not_found",
        ),
        (elsewhere, "POST", f"/idps/{federation.connection}/_test", "connection.not_found"),
        (elsewhere, "GET", f"/idps/{federation.connection}/tests/{test}", "connection.not_found"),
    )

    for connecting, method, path, code in cases:
        body = {} if method == "POST" else None
        page = await connecting.send(method, path, body)
        assert refused(page, 404, 5) == {"": code}, path

    assert await everything(server.store) == before


async def test_the_test_of_another_connection_is_not_found(federation, provider):
    test, _ = await started(federation)
    other = {**federation.body, "name": "Other"}
    connection = await federation.connecting.make("generic_oidc", other)

    page = await federation.connecting.send("GET", f"/idps/{connection}/tests/{test}")

    assert refused(page, 404, 5) == {"": "connection.test_not_found"}


@on_both_stores
async def test_a_deleted_connection_ends_its_tests(server, federation, provider):
    _, url = await started(federation)
    page = await left(federation, url)
    path = f"/idps/templates/{federation.connection}"
    await federation.connecting.call("DELETE", path)

    end = await federation.come_back(page)

    assert end.name == "connection-test"
    assert (await federation.visitor.post(url, {})).status == 410
    assert not [path for path, *_ in provider.calls if path == "/token"]


async def test_tests_of_an_owner_are_limited(server, federation):
    path = f"/idps/{federation.connection}/_test"
    for _ in range(MAX_TESTS):
        await federation.connecting.call("POST", path, {})

    page = await federation.connecting.send("POST", path, {})

    assert page.status == 429, page.text
    assert int(page.headers["Retry-After"]) > 0
    assert await server.store.count(CONNECTION_TESTS) == MAX_TESTS


async def test_a_connection_of_the_installation_is_tested_as_for_its_organization(
    server, unconnected, owner, provider
):
    provider.claims = PERSON
    unconnected.connecting = Connecting(owner, None, ADMIN)
    federation = await unconnected.make()

    result = await dry_run(federation)

    assert failed(result) == []
    assert result["decision"]["outcome"] == "ask"
