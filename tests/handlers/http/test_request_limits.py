"""How many requests without a person a network or a client may send within a minute."""

from __future__ import annotations

from contextlib import suppress

import pytest

from idp.limits.origin import AttemptOrigin
from idp.limits.throttled import Throttled
from idp.oauth import request_limits
from idp.oauth.sign_in import device as sign_in_device
from tests.support.protocol.relying_party import without_none
from tests.support.sign_in.registering import FIELDS
from tests.support.store.stored import count, refusals

DEVICE = "/oauth/v2/device_authorization"
DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"


@pytest.fixture
def settings():
    return {"trusted_proxies": ("127.0.0.0/8",)}


def at(address: str) -> dict[str, str]:
    return {"X-Forwarded-For": address}


async def ask_for_codes(visitor, client, address="192.0.2.1"):
    form = {"client_id": client.client_id, "scope": "openid"}
    return await visitor.post(DEVICE, form, headers=at(address))


def assert_too_many(page):
    assert page.status == 429
    assert page.json()["error"] == "temporarily_unavailable"
    assert 1 <= int(page.headers["Retry-After"]) <= 60


async def device(server):
    return await server.register("TV", auth_method="none", grant_types=[DEVICE_GRANT])


async def push(visitor, client, address="192.0.2.1"):
    form = without_none(client.authorize_form())
    headers = client.basic() if client.client_secret else {}
    return await visitor.post("/oauth/v2/par", form, headers=headers | at(address))


@pytest.mark.full
@pytest.mark.promise("security: limits")
async def test_devices_of_a_network_get_sixty_codes_a_minute(server, visitor):
    client = await device(server)
    for _ in range(60):
        assert (await ask_for_codes(visitor, client)).status == 200
    before = await count(server.store)

    assert_too_many(await ask_for_codes(visitor, client))
    assert await count(server.store) == before
    assert (await ask_for_codes(visitor, client, "192.0.2.2")).status == 200
    server.clock.advance(60)
    assert (await ask_for_codes(visitor, client)).status == 200


async def test_an_ipv6_network_is_a_64(server, visitor, monkeypatch):
    monkeypatch.setattr(request_limits, "DEVICES_BY_NETWORK", 2)
    client = await device(server)
    pages = [await ask_for_codes(visitor, client, f"2001:db8::{n}") for n in range(1, 4)]

    assert [page.status for page in pages] == [200, 200, 429]
    assert (await ask_for_codes(visitor, client, "2001:db8:0:1::1")).status == 200


@pytest.mark.promise("security: limits")
async def test_devices_of_a_client_get_six_hundred_codes_a_minute(server, visitor, monkeypatch):
    assert request_limits.DEVICES_BY_CLIENT == 600
    monkeypatch.setattr(request_limits, "DEVICES_BY_CLIENT", 5)
    client, other = await device(server), await device(server)
    pages = [await ask_for_codes(visitor, client, f"192.0.2.{n}") for n in range(1, 7)]

    assert [page.status for page in pages] == [200] * 5 + [429]
    assert_too_many(pages[-1])
    assert (await ask_for_codes(visitor, other)).status == 200


@pytest.mark.full
@pytest.mark.promise("security: limits")
async def test_a_public_client_pushes_sixty_requests_a_minute_from_one_network(server, visitor):
    client = await server.register("App", auth_method="none")
    for _ in range(60):
        assert (await push(visitor, client)).status == 201
    before = await count(server.store)

    assert_too_many(await push(visitor, client))
    assert await count(server.store) == before
    assert (await push(visitor, client, "192.0.2.2")).status == 201
    server.clock.advance(60)
    assert (await push(visitor, client)).status == 201


@pytest.mark.full
@pytest.mark.promise("security: limits")
async def test_a_client_with_a_secret_pushes_six_hundred_from_wherever(
    server, visitor, monkeypatch
):
    assert request_limits.PUSHES_BY_CLIENT == 600
    monkeypatch.setattr(request_limits, "PUSHES_BY_CLIENT", 70)
    client, other = await server.register("Wiki"), await server.register("Other")
    for _ in range(70):
        assert (await push(visitor, client)).status == 201

    assert_too_many(await push(visitor, client, "192.0.2.9"))
    assert (await push(visitor, other)).status == 201


@pytest.mark.full
@pytest.mark.promise("security: limits")
async def test_a_network_asks_for_thirty_mails_a_minute(server, new_visitor, demo):
    """By registrations and forgotten passwords together; what it typed is kept on the page."""
    statuses = []
    for n in range(31):
        visitor = new_visitor(headers=at("192.0.2.1"))
        page = await visitor.open(demo.authorize_url(prompt="create"))
        page = await visitor.send(page, **FIELDS | {"email": f"p{n}@example.org"})
        statuses.append(page.status)
    before = await count(server.store)
    reset = await visitor.open(page.url.replace("/register", "/reset"))
    reset = await visitor.send(reset, loginName="somebody")

    assert statuses == [303] * 30 + [429]
    assert 1 <= int(page.headers["Retry-After"]) <= 60
    assert (reset.status, reset.name) == (429, "reset")
    assert await count(server.store) == before


@pytest.mark.full
async def test_a_flood_of_refused_requests_leaves_room_for_those_of_other_networks(
    server, visitor
):
    """They are kept for `idp explain`, 60 at once of one network."""
    for _ in range(70):
        await visitor.post("/oauth/v2/token", {"grant_type": "none"}, headers=at("192.0.2.1"))
    await visitor.post("/oauth/v2/token", {"grant_type": "none"}, headers=at("192.0.2.2"))

    assert len(await refusals(server.store)) == 61


@pytest.mark.full
async def test_the_first_forms_of_browsers_in_which_nobody_has_signed_in_are_counted_by_network(
    server, new_visitor, demo, monkeypatch
):
    assert request_limits.FIRST_FORMS_BY_NETWORK == 3_000
    monkeypatch.setattr(request_limits, "FIRST_FORMS_BY_NETWORK", 5)

    async def first_form(address):
        visitor = new_visitor(headers=at(address))
        page = await visitor.open(demo.authorize_url())
        return visitor, await visitor.send(page, loginName="somebody")

    signed_in = new_visitor(headers=at("192.0.2.1"))
    await signed_in.sign_in(demo.authorize_url(), *server.user)
    begun = [await first_form("192.0.2.1") for _ in range(4)]
    before = await count(server.store)
    _, refused = await first_form("192.0.2.1")
    visitor, _ = begun[0]
    again = await visitor.send(await visitor.open(demo.authorize_url()), loginName="somebody")
    after = await count(server.store)
    page = await signed_in.open(demo.authorize_url(prompt="login"))
    known = await signed_in.send(page, loginName="somebody")

    assert {page.status for _, page in begun} == {303}
    assert again.status == 429, "nobody has ever signed in in this browser"
    assert (refused.status, refused.name) == (429, "error")
    assert 1 <= int(refused.headers["Retry-After"]) <= 60
    assert after == before
    assert known.status in (303, 400)
    assert (await first_form("192.0.2.2"))[1].status == 303
    server.clock.advance(60)
    assert (await first_form("192.0.2.1"))[1].status == 303


@pytest.mark.full
async def test_one_ipv6_site_has_four_times_the_limit_of_a_network(server, visitor):
    client = await device(server)
    asked = [
        await ask_for_codes(visitor, client, f"2001:db8:1:{n % 5:x}::1")
        for n in range(4 * request_limits.DEVICES_BY_NETWORK + 1)
    ]

    assert {page.status for page in asked[:-1]} == {200}
    assert_too_many(asked[-1])


async def test_ones_own_device_code_makes_no_room_for_more_guesses(server, visitor):
    client = await device(server)
    origin, free = AttemptOrigin("192.0.2.1"), server.service.config.sign_in_failures_before_delay
    for _ in range(free):
        own = (await ask_for_codes(visitor, client)).json()["user_code"]
        with suppress(sign_in_device.WrongCode):
            await sign_in_device.enter(server.service, "BCDF-GHJK", origin)
        with suppress(Throttled):
            await sign_in_device.enter(server.service, own, origin)
    with suppress(sign_in_device.WrongCode, Throttled):
        await sign_in_device.enter(server.service, "BCDF-GHJK", origin)

    with pytest.raises(Throttled):
        await sign_in_device.enter(server.service, "BCDF-GHJK", origin)


async def test_a_right_device_code_does_not_count_as_a_guess(server, visitor):
    client, begun = await device(server), set()
    for _ in range(20):
        own = (await ask_for_codes(visitor, client)).json()["user_code"]
        flow = await sign_in_device.enter(server.service, own, AttemptOrigin("192.0.2.1"))
        begun.add(flow.address)

    assert len(begun) == 20


async def test_many_networks_with_long_requests_leave_two_to_each_other(
    server, new_visitor, demo, monkeypatch
):
    monkeypatch.setattr(request_limits, "LONG_BY_ALL", 3)
    monkeypatch.setattr(request_limits, "LONG_OF_MANY", 5)
    visitor = new_visitor()
    networks = ["192.0.2.1"] * 3 + ["192.0.2.2"] * 3 + ["192.0.2.3"] * 3 + ["192.0.2.4"] * 2
    statuses = [(await long_request(visitor, demo, each)).status for each in networks]
    stored = (await count(server.store))["auth_requests"]
    server.clock.advance(60)
    later = await long_request(visitor, demo, "192.0.2.2")

    assert statuses == [303] * 3 + [303, 303, 429] + [303, 303, 429] + [303, 429]
    assert stored == 8
    assert later.status == 303


async def test_a_browser_in_which_a_user_has_signed_in_has_long_requests_of_its_own(
    server, new_visitor, demo, monkeypatch
):
    monkeypatch.setattr(request_limits, "LONG_BY_NETWORK", 2)
    known, stranger = new_visitor(), new_visitor()
    await known.sign_in(demo.authorize_url(), *server.user)
    others = [(await long_request(stranger, demo, "192.0.2.1")).status for _ in range(3)]
    own = [(await long_request(known, demo, "192.0.2.1", prompt="login")).status for _ in range(3)]

    assert (others, own) == ([303, 303, 429], [303, 303, 429])


async def long_request(visitor, demo, network, **params):
    """The answer to a request that is too long for an address; the browser keeps no new cookie."""
    cookies = dict(visitor.cookies)
    page = await visitor.get(demo.authorize_url(state="s" * 4000, **params), headers=at(network))
    visitor.cookies.clear()
    visitor.cookies.update(cookies)
    return page
