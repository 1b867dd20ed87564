"""Guesses from one network at many accounts: who is slowed down, and who is not."""

from __future__ import annotations

from contextlib import suppress

import pytest

from idp.identity.guesses import networks
from idp.identity.sessions import password_check
from idp.limits.origin import AttemptOrigin
from idp.limits.throttled import Throttled
from storage import COUNTERS
from tests.support.attacks.guessing import fail_from


@pytest.fixture
def settings():
    return {"trusted_proxies": ("127.0.0.1",), "known_networks": ("203.0.113.0/28",)}


@pytest.mark.full
async def test_somebody_behind_an_address_with_many_mistakes_gets_in(at, server):
    people = [await server.copy_user(f"person{n}") for n in range(19)]
    for n in range(25):
        assert (await (await at(f"typo{n}"))("wrong")).status == 400
    answers = [await (await at(name))(password) for name, password in people]

    assert [answer.status for answer in answers] == [303] * 19


async def failures_of(server, network):
    """How many accounts have failed from the network."""
    return (await server.store.get(COUNTERS, f"spray:{network}")).n


@pytest.mark.promise("guessing: networks")
async def test_a_network_from_which_many_accounts_failed_has_one_try_in_two_seconds(at, server):
    await fail_from(server, "192.0.2.1")
    first = await (await at("other"))("wrong")
    late = await (await at())(server.user[1])
    elsewhere = await (await at(address="192.0.2.2"))("wrong")
    server.clock.advance(2)

    assert (first.status, late.status, elsewhere.status) == (400, 429, 400)
    assert 2 <= int(late.headers["Retry-After"]) <= 10
    assert (await (await at())(server.user[1])).status == 303


async def test_a_slowed_network_leaves_known_browsers_alone(at, server, new_visitor, demo):
    browser = new_visitor()
    browser.http.headers["X-Forwarded-For"] = "192.0.2.1"
    await browser.sign_in(demo.authorize_url(), *server.user)
    await fail_from(server, "192.0.2.1")
    await (await at("other"))("wrong")

    assert (await (await at(browser=browser))(server.user[1])).status == 303


async def test_an_account_counts_once_for_its_network_and_no_more_after_a_success(at, server):
    tries = await at()
    for _ in range(3):
        await tries("wrong")
    once = await failures_of(server, "192.0.2.1")
    await tries(server.user[1])
    await server.service.background_tasks.finished()
    after = await failures_of(server, "192.0.2.1")

    assert (once, after) == (1, 0)


@pytest.mark.promise("guessing: networks")
async def test_all_of_an_ipv6_customer_are_counted_together(at, server):
    for n in range(3):
        await (await at(f"name{n}", f"2001:db8:1:{n}::7"))("wrong")
    site = await failures_of(server, "2001:db8:1::/48")
    subnet = await failures_of(server, "2001:db8:1:1::/64")
    await fail_from(server, "2001:db8:1::/48", 397)
    await (await at("name4", "2001:db8:1:4::7"))("wrong")

    assert (site, subnet) == (3, 1)
    assert (await (await at("demo", "2001:db8:1:5::7"))(server.user[1])).status == 429


@pytest.mark.full
@pytest.mark.promise("guessing: known browsers")
async def test_one_guess_in_two_seconds_from_one_subnet_keeps_no_owner_out(
    at, server, new_visitor, demo
):
    browser = new_visitor()
    browser.http.headers["X-Forwarded-For"] = "203.0.113.5"
    await browser.sign_in(demo.authorize_url(), *server.user)
    for n in range(1000):
        origin = AttemptOrigin(f"2001:db8::{n:x}")
        with suppress(password_check.SignInRefused, Throttled):
            await password_check.check_password(server.service, "demo", "wrong", origin)
        server.clock.advance(2)

    assert (await (await at(browser=browser, address="2001:db8::1"))(server.user[1])).status == 303


@pytest.mark.promise("guessing: networks")
async def test_known_networks_are_never_slowed(at, server):
    await fail_from(server, "203.0.113.7", 500)
    answers = [await (await at(f"name{n}", "203.0.113.7"))("wrong") for n in range(3)]

    assert [answer.status for answer in answers] == [400] * 3
    assert AttemptOrigin("::ffff:203.0.113.7").is_exempt(server.service.config)
    assert not AttemptOrigin("203.0.113.16").is_exempt(server.service.config)


async def test_of_one_network_a_thousand_accounts_are_noted_at_most(at, server, monkeypatch):
    assert networks.MAX_RECORDED == 1000
    monkeypatch.setattr(networks, "MAX_RECORDED", 5)
    for n in range(9):
        assert (await (await at(f"name{n}", "192.0.2.1"))("wrong")).status == 400
    noted = [one.id async for one in server.store.scan(COUNTERS) if one.id.startswith("seen:")]

    assert len(noted) == 5
