"""A form that is sent again, as by a double click, is answered as it was the first time."""

from __future__ import annotations

import asyncio

import pytest

from idp.records import AUTH_REQUESTS, BROWSERS, EVENTS
from tests.handlers.login.form_pages import FORMS
from tests.support.protocol.device import GRANTS, Device
from tests.support.sign_in.factors import set_rules
from tests.support.sign_in.steps import at_password, cancel, text_of
from tests.support.slices import one_in
from tests.support.store.stored import everything

# Its second answer has newer codes than the first, which the browser dropped.
REPEATED = [name for name in FORMS if name != "own recovery codes"]


async def sent_again(visitor, page, fields):
    """The answers to a form, and to the same one with the cookies from before."""
    before = dict(visitor.cookies)
    first = await visitor.send(page, **fields)
    visitor.cookies.clear()
    visitor.cookies.update(before)
    return first, await visitor.send(page, **fields)


async def led_to(visitor, page):
    page = await visitor.follow(page)
    return page.status, page.name, page.location


@pytest.fixture
def password_page(visitor, demo):
    async def open_page(**changes):
        return await at_password(visitor, demo, "demo", **changes)

    return open_page


@pytest.mark.parametrize("name", one_in(3, REPEATED))
async def test_a_form_sent_again_by_a_browser_that_lost_the_answer_leads_on(place, name):
    page, fields = await FORMS[name](place)
    first, second = await sent_again(place.visitor, page, page.inputs | fields)
    led = await led_to(place.visitor, second)

    assert first.status in (200, 303)
    assert led[0] in (200, 303)
    assert led[1] not in (page.name, "expired")


@pytest.mark.parametrize("name", one_in(3, REPEATED))
async def test_a_form_sent_twice_at_once_leads_to_one_place(place, name):
    page, fields = await FORMS[name](place)
    sent = [place.visitor.send(page, **page.inputs | fields) for _ in range(2)]
    first, second = [await led_to(place.visitor, each) for each in await asyncio.gather(*sent)]

    assert first == second
    assert first[0] in (200, 303)


async def test_a_repeated_password_gets_the_cookie_and_the_code_of_the_first(
    visitor, server, password_page
):
    page = await password_page()
    first, second = await sent_again(visitor, page, {"password": server.user[1]})
    (before,) = [one async for one in server.store.scan(BROWSERS)]
    led = [(await visitor.follow(each)).location for each in (first, second)]

    assert first.headers["Set-Cookie"] == second.headers["Set-Cookie"]
    assert [one async for one in server.store.scan(BROWSERS)] == [before]
    assert led[0] == led[1]
    assert "code=" in led[0]
    types = [event.type async for event in server.store.scan(EVENTS)]
    assert types.count("session.opened") == 1


@pytest.mark.parametrize(
    "changed", ["cookie", "password", "token", "time", "address", "another cookie"]
)
async def test_what_is_not_the_same_form_of_the_same_browser_gets_no_cookie(
    visitor, server, password_page, changed
):
    page, fields = await password_page(), {"password": server.user[1]}
    before = dict(visitor.cookies)
    await visitor.send(page, **fields)
    visitor.cookies.clear()
    kept = before if changed != "another cookie" else dict.fromkeys(before, "x" * 65)
    visitor.cookies.update({} if changed == "cookie" else kept)
    if changed == "time":
        server.clock.advance(60)
    if changed == "address":
        page.url = page.url.replace("/password", "/totp")
    if changed == "password":
        fields = {"password": "another one"}
    if changed == "token":
        page.hidden["token"] = "x" * 43
    late = await visitor.send(page, **fields)

    assert (late.status, late.name) == (403, "expired")
    assert "Set-Cookie" not in late.headers


async def test_a_finished_sign_in_is_answered_again_with_its_code_while_that_is_unused(
    visitor, demo, server, password_page
):
    page = await password_page()
    first = await visitor.submit(page, password=server.user[1])
    before = await everything(server.store)
    again = await visitor.submit(page, password=server.user[1])

    assert again.location == first.location
    assert await everything(server.store) == before


async def test_a_used_code_is_not_given_again(visitor, demo, server, password_page):
    page = await password_page()
    first = await visitor.submit(page, password=server.user[1])
    assert (await demo.redeem(visitor, first.answer["code"])).status == 200
    again = await visitor.submit(page, password=server.user[1])

    assert (again.status, again.name) == (410, "expired")
    assert "This sign-in is already finished." in text_of(again)


async def test_after_a_minute_a_finished_sign_in_says_so(visitor, server, password_page):
    page = await password_page()
    await visitor.submit(page, password=server.user[1])
    server.clock.advance(60)
    late = await visitor.submit(page, password=server.user[1])

    assert (late.status, late.name) == (410, "expired")
    assert "This sign-in is already finished." in text_of(late)


async def test_tokens_of_the_implicit_flow_are_not_given_again(visitor, server):
    party = await server.register(
        "Implicit", grant_types=["implicit"], response_types=["id_token"], auth_method="none"
    )
    page = await at_password(visitor, party, "demo", response_type="id_token")
    first = await visitor.submit(page, password=server.user[1])
    again = await visitor.submit(page, password=server.user[1])

    assert "id_token" in first.answer
    assert again.name == "expired"
    assert [one.sealed_answer async for one in server.store.scan(AUTH_REQUESTS)] == [None]


async def test_an_answer_is_repeated_in_its_own_browser_alone(
    visitor, new_visitor, server, password_page
):
    page = await password_page()
    await visitor.submit(page, password=server.user[1])
    other = new_visitor()
    seen = [await other.open(page.url.replace("/password", "")), await other.submit(page)]

    assert [each.name for each in seen] == ["expired"] * 2


async def test_a_sign_in_that_was_cancelled_twice_is_answered_alike(visitor, demo):
    page = await visitor.open(demo.authorize_url())
    first, second = await cancel(visitor, page), await cancel(visitor, page)

    assert first.location == second.location
    assert first.answer["error"] == "access_denied"


async def test_the_store_has_no_code_in_the_clear(visitor, server, password_page):
    page = await password_page()
    code = (await visitor.submit(page, password=server.user[1])).answer["code"]

    assert code[22:] not in repr(await everything(server.store))


@pytest.mark.parametrize("has_cookie", [True, False])
async def test_a_page_from_before_another_sign_in_says_so(visitor, demo, server, has_cookie):
    page = await at_password(visitor, demo, "demo", state="first")
    before = dict(visitor.cookies)
    await visitor.sign_in(demo.authorize_url(), *server.user)
    visitor.cookies.clear()
    visitor.cookies.update(before if has_cookie else {})
    late = await visitor.submit(page, password=server.user[1])

    expected = "signed in or out in another window" if has_cookie else "didn't send the cookie"
    assert (late.status, late.name) == (403, "expired")
    assert expected in text_of(late)


async def test_a_form_with_the_token_of_another_page_says_so(visitor, demo, server, password_page):
    page = await password_page()
    late = await visitor.post(page.url, {"token": "x" * 43, "password": server.user[1]})

    assert (late.status, late.name) == (403, "expired")
    assert "come from this sign-in" in text_of(late)


async def test_a_device_code_sent_twice_at_once_leads_to_one_sign_in(visitor, server):
    device = Device(await server.register("TV", grant_types=GRANTS), visitor)
    page, code = await visitor.get("/ui/device"), (await device.begin())["user_code"]
    sent = [visitor.post(page.url, {"userCode": code}) for _ in range(2)]
    first, second = await asyncio.gather(*sent)

    assert first.status == second.status == 303
    assert first.location == second.location


async def test_who_knows_the_cookie_from_before_the_password_gets_no_later_one(
    server, visitor, demo, new_visitor
):
    """A page without a password or code, as the offer of a factor, is answered with a cookie as
    well, which follows from one that only the user's browser has."""
    await set_rules(server, offer_factor_seconds=30 * 86400)
    page = await at_password(visitor, demo, "demo")
    planted = dict(visitor.cookies)
    offer = await visitor.submit(page, password=server.user[1])
    assert offer.name == "factor-offer"
    assert dict(visitor.cookies) != planted
    await visitor.submit(offer, decision="skip")

    thief = new_visitor()
    thief.cookies.update(planted)
    again = await thief.send(offer, **offer.inputs, decision="skip")

    assert not again.headers.get_list("Set-Cookie")
    assert again.status in (403, 410)


async def test_what_a_form_had_can_not_be_guessed_by_sending_it_again(
    server, visitor, demo, new_visitor
):
    page = await at_password(visitor, demo, "demo")
    before, right = dict(visitor.cookies), page.inputs | {"password": server.user[1]}
    await visitor.send(page, **right)
    thief = new_visitor()
    for number in range(10):
        thief.cookies.clear()
        thief.cookies.update(before)
        await thief.send(page, **page.inputs | {"password": f"wrong {number}"})
    thief.cookies.clear()
    thief.cookies.update(before)

    late = await thief.send(page, **right)

    assert not late.headers.get_list("Set-Cookie")
