"""Sign-ins that are not stored yet, over two processes: each request may meet the other one."""

from __future__ import annotations

import asyncio

import httpx
import pytest
from msgspec import structs

from idp.foundation import opaque_tokens
from idp.records import AUTH_REQUESTS, BROWSERS, Browser
from storage import Insert
from tests.flows.flows import person
from tests.support.protocol.noting import FOREIGN, flow_of

AT_ONCE = 8
NO_REUSE = httpx.Limits(max_keepalive_connections=0)
over_stores = pytest.mark.parametrize("place", ["sqlite", "mongodb"], indirect=True)


@pytest.mark.promise("security: anonymous")
@over_stores
async def test_a_sign_in_goes_on_in_another_process(place, open_browser):
    """Every request has a connection of its own, so that both processes take part."""
    party, somebody = await place.register(), await person(place)
    for _ in range(4):
        browser = open_browser(place, limits=NO_REUSE)
        first = await browser.open(party.authorize_url())
        page = await browser.submit(first, loginName=somebody[0])
        back = await browser.open(first.url)
        done = await browser.submit(back, password=somebody[1])
        late = await browser.submit(page, password=somebody[1])

        assert "code" in done.answer
        assert late.answer["code"] == done.answer["code"]


@over_stores
async def test_a_post_of_another_site_goes_on_in_another_process(place, open_browser):
    party, somebody = await place.register(), await person(place)
    browser = open_browser(place, limits=NO_REUSE)
    form = {name: value for name, value in party.authorize_form().items() if value is not None}
    page = await browser.follow(await browser.post("/oauth/v2/authorize", form, headers=FOREIGN))
    page = await browser.submit(page, loginName=somebody[0])
    done = await browser.submit(page, password=somebody[1])

    assert "code" in done.answer


@over_stores
async def test_of_many_first_forms_of_a_new_browser_one_stores_it(place, open_browser):
    party, somebody = await place.register(), await person(place)
    browser = open_browser(place, limits=NO_REUSE)
    first = await browser.open(party.authorize_url())
    sent = [browser.send(first, loginName=somebody[0]) for _ in range(AT_ONCE)]
    answers = await asyncio.gather(*sent)
    pages = await asyncio.gather(*[browser.follow(each) for each in answers])
    again = await browser.open(first.url)
    done = await browser.submit(again, password=somebody[1])

    assert {each.status for each in answers} == {303}
    assert {page.name for page in pages} <= {"password", "login-name"}
    assert again.name == "password"
    assert "code" in done.answer


@over_stores
async def test_of_many_answers_to_one_note_one_is_given(place, open_browser):
    """Somebody who is signed in opens the note of a silent sign-in in many tabs at once."""
    party, somebody = await place.register(), await person(place)
    browser = open_browser(place, limits=NO_REUSE)
    await party.tokens(browser, *somebody)
    form = {name: value for name, value in party.authorize_form().items() if value is not None}
    sent = await browser.post("/oauth/v2/authorize", form, headers=FOREIGN)
    bound = await browser.get(sent.location)
    pages = await asyncio.gather(*[browser.open(bound.location) for _ in range(AT_ONCE)])

    assert len({page.answer["code"] for page in pages if "code" in page.answer}) == 1
    assert {page.status for page in pages if "code" not in page.answer} <= {410}


@over_stores
async def test_a_sign_in_that_the_release_before_has_stored_goes_on(place, open_browser):
    """It stored the browser and the request at once, and both expire together."""
    party, somebody = await place.register(), await person(place)
    browser = open_browser(place)
    page = await browser.open(party.authorize_url())
    page = await browser.submit(page, loginName=somebody[0])
    request = await place.store.get(AUTH_REQUESTS, flow_of(page))
    (name,), (cookie,) = browser.cookies.keys(), browser.cookies.values()
    older = {"id": request.id[::-1], "ends_at": None, "expires_at": request.ends_at}
    agent = Browser(
        id=request.agent_id,
        secret_hash=opaque_tokens.digest(cookie[22:65]),
        created_at=request.created_at,
        expires_at=request.ends_at,
    )
    await place.store.commit(
        Insert(AUTH_REQUESTS, structs.replace(request, **older)), Insert(BROWSERS, agent)
    )
    browser.cookies.clear()
    browser.cookies.set(name, cookie[:65])  # as that release gave it: an id and a secret
    page = await browser.open(f"/ui/login?flow={request.id[::-1]}")
    done = await browser.submit(page, password=somebody[1])

    assert "code" in done.answer
