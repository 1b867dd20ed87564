"""The check of a connection: what it finds at the provider, and what it does not reveal."""

from __future__ import annotations

import asyncio
import json

import pytest

from idp.management.connections import check
from tests.support.management.callers import refused
from tests.support.sign_in.federating import closed_network, unknown_name
from tests.support.sign_in.hostile_provider import CLIENT_SECRET
from tests.support.store.stored import everything

REFUSED = (401, b'{"error": "invalid_client"}')
RIGHT = (400, b'{"error": "invalid_grant"}')
NAMES = ["provider", "keys", "client_authentication"]


@pytest.fixture
def right(provider):
    """The provider, which does not know the code and accepts the client."""
    provider.answers["/token"] = RIGHT
    return provider


async def checked(federation):
    """The checks, as pairs of name and outcome, and the last of them."""
    path = f"/idps/{federation.connection}/_check"
    checks = (await federation.connecting.call("POST", path, {}))["checks"]
    return [(each["name"], each["outcome"]) for each in checks], checks[-1]


async def test_a_right_connection_passes_every_check(server, federation, right):
    await federation.connecting.call("POST", f"/idps/{federation.connection}/_deactivate", {})
    before = await everything(server.store)

    outcomes, _ = await checked(federation)

    assert outcomes == [(name, "passed") for name in NAMES]
    after = await everything(server.store)
    assert {name: records for name, records in after.items() if records != before.get(name)} == {}


ANSWERS = {
    "no server": ("/.well-known/openid-configuration", (503, b"{}"), 0, "failed"),
    "no document": ("/.well-known/openid-configuration", (200, b"{"), 0, "failed"),
    "another issuer": (
        "/.well-known/openid-configuration",
        (200, b'{"issuer": "https://other.example"}'),
        0,
        "failed",
    ),
    "no key set": ("/keys", (404, b""), 1, "failed"),
    "no key": ("/keys", (200, b'{"keys": []}'), 1, "failed"),
    "a wrong secret": ("/token", REFUSED, 2, "failed"),
    "a wrong secret at Keycloak": (
        "/token",
        (401, b'{"error": "unauthorized_client"}'),
        2,
        "failed",
    ),
    "an error of the server": ("/token", (500, b"oops"), 2, "unknown"),
    "tokens for any code": ("/token", (200, b"{}"), 2, "unknown"),
    "another error": ("/token", (400, b'{"error": "invalid_request"}'), 2, "unknown"),
}


@pytest.mark.parametrize("case", ANSWERS)
async def test_what_is_wrong_at_the_provider_is_named_with_a_fix(federation, right, case):
    path, answer, position, outcome = ANSWERS[case]
    right.answers[path] = answer

    outcomes, last = await checked(federation)

    passed = [(name, "passed") for name in NAMES[:position]]
    assert outcomes == [*passed, (NAMES[position], outcome)]
    assert last["fix"]
    assert CLIENT_SECRET not in json.dumps(last)


async def test_what_was_read_before_does_not_count(federation, right):
    await federation.leave(await federation.begin())
    right.answers["/keys"] = (503, b"")
    right.answers["/.well-known/openid-configuration"] = (503, b"")

    outcomes, _ = await checked(federation)

    assert outcomes == [("provider", "failed")]


async def test_a_secret_is_tried_once_in_ten_minutes_unless_it_was_changed(
    server, federation, right
):
    right.answers["/token"] = REFUSED
    await checked(federation)
    assert (await checked(federation))[0][-1] == ("client_authentication", "unknown")
    calls = len([path for path, *_ in right.calls if path == "/token"])

    server.clock.advance(1)
    await federation.change(clientSecret="the right one")
    right.answers["/token"] = RIGHT
    outcomes, _ = await checked(federation)

    assert outcomes[-1] == ("client_authentication", "passed")
    assert calls == 1
    server.clock.advance(check.SECRET_WINDOW.total_seconds())
    assert (await checked(federation))[0][-1] == ("client_authentication", "passed")


async def test_checks_of_an_owner_are_limited(server, federation, right):
    path = f"/idps/{federation.connection}/_check"
    for _ in range(check.MAX_CHECKS):
        await federation.connecting.call("POST", path, {})

    page = await federation.connecting.send("POST", path, {})

    assert page.status == 429, page.text
    assert int(page.headers["Retry-After"]) > 0
    server.clock.advance(check.WINDOW.total_seconds())
    assert (await federation.connecting.send("POST", path, {})).status == 200


async def test_a_provider_that_does_not_answer_is_waited_for_no_longer_than_the_limit(
    federation, right, monkeypatch
):
    await checked(federation)  # what is loaded at the first call takes no time of the next ones
    monkeypatch.setattr(check, "SECONDS", 0.3)
    right.held["/keys"] = asyncio.Event()

    outcomes, last = await checked(federation)
    right.held["/keys"].set()

    assert outcomes[-1][1] == "failed"
    assert "did not answer within 0.3 s" in last["details"]


async def test_which_names_a_closed_network_has_is_not_revealed(server, federation, right):
    """An organization's administrator enters any name."""
    found = []

    await federation.change(issuer="https://wiki.corp.internal")
    for resolve in (closed_network, unknown_name):
        server.service.outgoing._resolve = resolve
        outcomes, last = await checked(federation)
        assert outcomes == [("provider", "failed")]
        found.append(last)

    assert found[0] == found[1]
    assert "169.254" not in json.dumps(found)


async def test_a_connection_of_another_organization_is_not_checked(federation, right):
    page = await federation.connecting.send("POST", "/idps/nobody/_check", {})

    assert refused(page, 404, 5) == {"": "connection.not_found"}
    assert right.calls == []
