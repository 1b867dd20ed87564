"""How many authorization requests a network may send from browsers in which nobody signed in."""

from __future__ import annotations

import pytest

from handlers.http import browser
from idp.identity.sessions import browsers
from idp.limits.origin import AttemptOrigin
from idp.oauth import request_limits
from idp.oauth.errors import TooManyRequests
from tests.support.store.untouched import untouched_store_fixture  # noqa: F401 - a fixture


@pytest.fixture
def settings():
    return {"trusted_proxies": ("127.0.0.0/8",), "known_networks": ("203.0.113.0/24",)}


def at(address="192.0.2.1"):
    return {"X-Forwarded-For": address}


def allowed(server, address, count):
    """How many of so many requests of an address are allowed."""
    for number in range(count):
        try:
            request_limits.admit_authorization(server.service, AttemptOrigin(address))
        except TooManyRequests:
            return number
    return count


def use_up(server, address="192.0.2.1"):
    allowed(server, address, 1000)


@pytest.mark.promise("security: anonymous authorization")
async def test_a_network_sends_200_at_once_and_20_a_second(server):
    assert allowed(server, "192.0.2.1", 300) == 200
    assert allowed(server, "192.0.2.2", 300) == 200

    server.clock.advance(1)
    assert allowed(server, "192.0.2.1", 300) == 20
    server.clock.advance(3600)
    assert allowed(server, "192.0.2.1", 300) == 200


async def test_a_site_of_many_ipv6_networks_sends_four_times_as_many(server):
    networks = [f"2001:db8:1:{n:x}::1" for n in range(10)]

    assert sum(allowed(server, each, 200) for each in networks) == 800


async def test_networks_that_the_operator_names_are_not_counted(server):
    assert allowed(server, "203.0.113.9", 500) == 500


@pytest.mark.promise("security: anonymous authorization")
async def test_more_of_them_get_429_as_a_page_without_the_store(
    server, new_visitor, demo, untouched_store
):
    use_up(server)
    untouched_store(server)

    page = await new_visitor(headers=at()).open(demo.authorize_url())

    assert (page.status, page.name) == (429, "error")
    assert page.headers["Retry-After"] == "1"
    assert "Too many requests" in page.text


async def test_other_networks_begin_sign_ins_meanwhile(server, new_visitor, demo):
    use_up(server)

    page = await new_visitor(headers=at("192.0.2.2")).open(demo.authorize_url())

    assert page.name == "login-name"


async def test_a_request_that_another_site_posts_is_counted_too(server, new_visitor, demo):
    use_up(server)
    form = {key: value for key, value in demo.authorize_form().items() if value is not None}

    page = await new_visitor(headers=at()).post("/oauth/v2/authorize", form)

    assert page.status == 429


@pytest.mark.promise("security: anonymous authorization")
async def test_a_browser_in_which_a_user_has_signed_in_is_never_counted(server, new_visitor, demo):
    visitor = new_visitor(headers=at())
    await visitor.sign_in(demo.authorize_url(), *server.user)
    use_up(server)

    for _ in range(3):
        assert (await visitor.get(demo.authorize_url())).status == 303
    server.clock.advance(0.05)
    assert allowed(server, "192.0.2.1", 10) == 1


async def test_a_cookie_of_a_browser_without_a_user_does_not_help(
    server, new_visitor, demo, untouched_store
):
    visitor = new_visitor(headers=at())
    await visitor.open(demo.authorize_url())
    use_up(server)
    untouched_store(server)

    assert (await visitor.get(demo.authorize_url())).status == 429


async def test_an_invented_cookie_does_not_help(server, new_visitor, demo):
    name, value = browser_cookie(server)
    use_up(server)

    visitor = new_visitor(headers=at() | {"Cookie": f"{name}={value}"})

    assert (await visitor.get(demo.authorize_url())).status == 429


def browser_cookie(server):
    """A cookie of the form that a browser has once a form was sent, of no browser."""
    cookie = browsers.new(server.service)
    return browser.cookie_name(server.service.config), cookie.browser.id + "A" * 43
