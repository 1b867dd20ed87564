"""The device flow over every store, and its races over two processes."""

from __future__ import annotations

import asyncio
from collections import Counter

import httpx
import pytest

from idp.records import AUTHORIZATIONS, DEVICE_REQUESTS
from tests.flows.conftest import PLACES
from tests.flows.flows import claims, person
from tests.support.protocol.device import GRANTS, Device, at_confirmation, type_code

AT_ONCE = 16
NO_REUSE = httpx.Limits(max_keepalive_connections=0)
ROUNDS = [pytest.param(2, id="2"), pytest.param(30, id="30", marks=pytest.mark.load)]

over_two_processes = pytest.mark.parametrize("place", ["sqlite", "mongodb"], indirect=True)


@pytest.mark.full
@pytest.mark.parametrize("place", PLACES, indirect=True)
async def test_a_device_is_let_in_and_refreshes(place, open_browser):
    device = await new_device(place, open_browser)
    browser, somebody = open_browser(place, limits=NO_REUSE), await person(place)
    told = await device.begin()
    waiting, hasty = await device.poll(), await device.poll()
    page = await at_confirmation(browser, told["user_code"], somebody)
    await browser.submit(page, decision="allow")
    tokens = await device.tokens()
    refreshed = await device.party.refresh(device.visitor, tokens["refresh_token"])
    again = await device.poll()

    assert waiting.json()["error"] == "authorization_pending"
    assert hasty.json()["error"] == "slow_down"
    assert claims(tokens["id_token"])["aud"] == device.party.client_id
    assert refreshed.status == 200
    assert again.json()["error"] == "invalid_grant"


@pytest.mark.promise("device: sign-in")
@over_two_processes
@pytest.mark.parametrize("rounds", ROUNDS)
async def test_of_many_polls_after_the_approval_one_gets_tokens(place, open_browser, rounds):
    device = await new_device(place, open_browser)
    browser, somebody = open_browser(place, limits=NO_REUSE), await person(place)
    for _ in range(rounds):
        told = await device.begin()
        page = await at_confirmation(browser, told["user_code"], somebody)
        await browser.submit(page, decision="allow")
        polls = await asyncio.gather(*[device.poll() for _ in range(AT_ONCE)])
        errors = Counter(each.json().get("error") for each in polls)
        (tokens,) = [each.json() for each in polls if each.status == 200]

        assert errors == {None: 1, "invalid_grant": AT_ONCE - 1}
        assert (await device.party.userinfo(browser, tokens["access_token"])).status == 200


@over_two_processes
@pytest.mark.parametrize("rounds", ROUNDS)
async def test_of_many_decisions_at_once_one_counts(place, open_browser, rounds):
    device = await new_device(place, open_browser)
    browser, somebody = open_browser(place, limits=NO_REUSE), await person(place)
    for _ in range(rounds):
        told = await device.begin()
        page = await at_confirmation(browser, told["user_code"], somebody)
        pressed = ["allow", "deny"] * (AT_ONCE // 2)
        await asyncio.gather(*[browser.send(page, decision=each) for each in pressed])
        id = told["device_code"][:22]
        request = await place.store.get(DEVICE_REQUESTS, id)
        authorization = await place.store.get(AUTHORIZATIONS, id)
        poll = await device.poll()

        assert request.decided_at is not None
        assert (authorization is not None) == request.is_allowed
        assert poll.json().get("error") == (None if request.is_allowed else "access_denied")


@over_two_processes
@pytest.mark.parametrize("rounds", ROUNDS)
async def test_of_many_browsers_where_a_code_is_typed_one_goes_on(place, open_browser, rounds):
    device = await new_device(place, open_browser)
    for number in range(rounds):
        told = await device.begin()
        # The refused ones count as wrong codes of their network: each round has its own.
        address = httpx.AsyncHTTPTransport(local_address=f"127.0.1.{number + 1}", limits=NO_REUSE)
        browsers = [open_browser(place, transport=address) for _ in range(AT_ONCE)]
        pages = await asyncio.gather(*[type_code(each, told["user_code"]) for each in browsers])
        names = Counter(page.name for page in pages)

        assert names == {"login-name": 1, "device": AT_ONCE - 1}


async def new_device(place, open_browser) -> Device:
    party = await place.register("Television", grant_types=GRANTS)
    return Device(party, open_browser(place, limits=NO_REUSE))
