"""Requests that must not both win, all at once and over two processes.

Every request has a connection of its own, so that both processes take part.
"""

from __future__ import annotations

import asyncio
from urllib.parse import urlencode

import httpx
import pytest

from idp.foundation import opaque_tokens
from idp.records import AUTHORIZATIONS, SESSIONS, USERS
from tests.flows.flows import family_is_dead, person
from tests.support.browsers.visitor import Visitor

PLACES = ["sqlite", "mongodb"]
AT_ONCE = 32
ROUNDS = [pytest.param(3, id="3"), pytest.param(40, id="40", marks=pytest.mark.load)]
NO_REUSE = httpx.Limits(max_keepalive_connections=0)

over_stores = pytest.mark.parametrize("place", PLACES, indirect=True)


def check_one_won(answers) -> dict:
    """The only success; everybody else was told the same."""
    won = [answer for answer in answers if answer.status == 200]
    lost = [(answer.status, answer.json()["error"]) for answer in answers if answer not in won]

    assert len(won) == 1
    assert lost == [(400, "invalid_grant")] * (len(answers) - 1)
    return won[0].json()


@pytest.mark.promise("token endpoint: reused code")
@over_stores
@pytest.mark.parametrize("rounds", ROUNDS)
async def test_of_many_redemptions_one_wins_and_its_family_ends(place, open_browser, rounds):
    party, browser = await place.register(), open_browser(place, limits=NO_REUSE)
    somebody = await person(place)
    for _ in range(rounds):
        page = await browser.sign_in(party.authorize_url(prompt="login"), *somebody)
        code = page.answer["code"]
        answers = await asyncio.gather(*[party.redeem(browser, code) for _ in range(AT_ONCE)])
        tokens = check_one_won(answers)

        assert await family_is_dead(party, browser, tokens)


@over_stores
@pytest.mark.parametrize("rounds", ROUNDS)
async def test_of_many_refreshes_one_wins_and_its_family_ends(place, open_browser, rounds):
    party, browser = await place.register(), open_browser(place, limits=NO_REUSE)
    somebody = await person(place)
    for _ in range(rounds):
        old = await party.tokens(browser, *somebody, prompt="login")
        spent = old["refresh_token"]
        answers = await asyncio.gather(*[party.refresh(browser, spent) for _ in range(AT_ONCE)])
        new = check_one_won(answers)

        assert await family_is_dead(party, browser, new)
        assert (await party.userinfo(browser, old["access_token"])).status == 401


@over_stores
async def test_many_posts_of_one_password_form_make_one_session(place, open_browser):
    party, browser = await place.register(), open_browser(place, limits=NO_REUSE)
    name, password = await person(place)
    page = await browser.open(party.authorize_url())
    page = await browser.submit(page, loginName=name)
    tabs = [await copy_of(browser, open_browser, place) for _ in range(AT_ONCE)]
    answers = await asyncio.gather(*[tab.send(page, password=password) for tab in tabs])
    found = await place.store.find(USERS, {"login_key": name})
    sessions = await place.store.find(SESSIONS, {"user_id": found.records[0].id})
    signed_in = [tab for tab, answer in zip(tabs, answers, strict=True) if is_in(answer)]

    assert len(sessions.records) == 1
    cookies = {answer.headers["Set-Cookie"].partition(";")[0] for answer in filter(is_in, answers)}
    assert len(cookies) == 1
    assert "code" in await party.silently(signed_in[0])


@pytest.mark.promise("authorization: pushed request")
@over_stores
async def test_of_many_who_bring_a_reference_one_is_answered(place, open_browser):
    party, browser = await place.register(), open_browser(place, limits=NO_REUSE)
    await party.tokens(browser, *await person(place))
    form = party.authorize_form()
    for _ in range(3):
        pushed = await browser.post("/oauth/v2/par", form, headers=party.basic())
        found = {"client_id": party.client_id, "request_uri": pushed.json()["request_uri"]}
        url = f"/oauth/v2/authorize?{urlencode(found)}"
        answers = await asyncio.gather(*[browser.get(url) for _ in range(AT_ONCE)])
        won = [answer for answer in answers if answer.status == 303]

        assert len(won) == 1
        assert "code" in won[0].answer
        assert {(each.status, each.name) for each in answers if each is not won[0]} == {
            (400, "explain")
        }


@over_stores
async def test_consent_in_many_tabs_is_remembered_whole(place, open_browser):
    party = await place.register(is_third_party=True)
    browser = open_browser(place, limits=NO_REUSE)
    url = party.authorize_url(scope="openid")
    await browser.submit(await browser.sign_in(url, *await person(place)), decision="allow")
    wanted = ["profile", "email", "phone", "address"]
    pages = [await browser.open(party.authorize_url(scope=f"openid {each}")) for each in wanted]
    while waiting := [page for page in pages if page.name == "consent"]:
        pages = await asyncio.gather(*[browser.submit(p, decision="allow") for p in waiting])
        assert all(page.name == "consent" or "code" in page.answer for page in pages)
    answer = await party.silently(browser, scope=" ".join(["openid", *wanted]))

    assert "code" in answer


async def copy_of(browser: Visitor, open_browser, place) -> Visitor:
    """The same browser once more: its cookies, and connections of its own."""
    return open_browser(place, limits=NO_REUSE, cookies=dict(browser.cookies))


def is_in(answer) -> bool:
    return bool(answer.headers.get_list("Set-Cookie"))


@over_stores
@pytest.mark.parametrize("part", ["family", "both"])
async def test_a_forged_refresh_token_writes_nothing(place, open_browser, part):
    party, browser = await place.register(), open_browser(place, limits=NO_REUSE)
    tokens = await party.tokens(browser, *await person(place))
    genuine, random = tokens["refresh_token"], place.service.random
    record_id, family, secret = opaque_tokens.split(genuine, 2)
    forged = record_id + random.token() + (secret if part == "family" else random.token())
    before = await place.store.get(AUTHORIZATIONS, record_id)
    answers = await asyncio.gather(*[party.refresh(browser, forged) for _ in range(8)])
    after = await place.store.get(AUTHORIZATIONS, record_id)

    assert family not in forged
    assert {(one.status, one.json()["error"]) for one in answers} == {(400, "invalid_grant")}
    assert after == before
    assert (await party.refresh(browser, genuine)).status == 200
