"""The link of a reset's mail works in any browser, and once; looking at it uses nothing up."""

import asyncio
from urllib.parse import parse_qs, urlsplit

import pytest

from idp.records import EVENTS, USERS
from storage import Update
from tests.support.measured.logged import logged
from tests.support.sign_in.factors import code as code_of_app
from tests.support.sign_in.factors import give_app
from tests.support.sign_in.resetting import NEW_PASSWORD, at_reset_code, give_address, newest
from tests.support.sign_in.steps import Seen, at_password, leads_on, shape, text_of
from tests.support.store.both_stores import on_both_stores, store_as_marked  # noqa: F401
from tests.support.store.stored import everything

REFUSED = "This link was already used or has expired. Request a new one."


async def link_of(visitor, demo, **changes):
    """The link of a new mail, and the page that waits for its code."""
    page = await at_reset_code(visitor, demo, **changes)
    return page, (await newest(visitor))["url"]


def new_one(page):
    """Where the button leads that asks for another mail."""
    return next(link for link in Seen(page).links if urlsplit(link).path == "/ui/reset")


async def passwords_changed(server):
    types = [event.type async for event in server.store.scan(EVENTS)]
    return types.count("user.password_changed")


async def test_in_the_browser_of_the_sign_in_it_goes_on_there(visitor, server, demo):
    await give_address(server)
    _, link = await link_of(visitor, demo, state="kept")
    page = await visitor.open(link)
    done = await visitor.submit(page, newPassword=NEW_PASSWORD)

    assert shape(page) == ("change-password", ["loginName", "newPassword"], [])
    assert page.inputs["loginName"] == "demo"
    assert "code" in done.answer
    assert done.answer["state"] == "kept"


async def test_in_another_browser_it_signs_in_there_and_leads_on_to_the_application(
    visitor, new_visitor, server, demo
):
    await give_address(server)
    waiting, link = await link_of(visitor, demo)
    other = new_visitor()
    done = await other.submit(await other.open(link), newPassword=NEW_PASSWORD)
    back = await visitor.open(waiting.url)

    assert (done.status, done.name) == (200, "signed-in")
    assert f"{server.issuer}/demo" in Seen(done).links
    assert "code" in (await other.open(demo.authorize_url())).answer
    assert (back.name, back.inputs["loginName"]) == ("password", "demo")
    assert "code" in (await visitor.submit(back, password=NEW_PASSWORD)).answer


async def test_looking_at_it_uses_nothing_up_and_writes_nothing(
    visitor, new_visitor, server, demo
):
    await give_address(server)
    page, link = await link_of(visitor, demo)
    before = await everything(server.store)
    for _ in range(3):
        seen = await new_visitor().open(link)

    assert (seen.status, seen.name) == (200, "change-password")
    assert await everything(server.store) == before
    answer = await visitor.submit(page, code=(await newest(visitor))["code"])
    assert answer.name == "change-password"


@pytest.mark.parametrize("seconds", [3599, 3601])
async def test_it_counts_for_an_hour(visitor, new_visitor, server, demo, seconds):
    await give_address(server)
    _, link = await link_of(visitor, demo)
    server.clock.advance(seconds)
    page = await new_visitor().open(link)

    assert (page.status, page.name) == [(200, "change-password"), (410, "expired")][seconds > 3600]
    assert leads_on(page)


async def spent(server, visitor, link):
    await visitor.submit(await visitor.open(link), newPassword="another kettle hums along")
    return link


async def late(server, visitor, link):
    server.clock.advance(3601)
    return link


async def deactivated(server, visitor, link):
    user = (await server.store.find(USERS, {"login_key": "demo"})).records[0]
    await server.store.commit(Update(USERS, user.id, set={"state": "inactive"}))
    return link


async def with_another_address(server, visitor, link):
    await give_address(server, address="other@example.org")
    return link


async def altered(server, visitor, link):
    key = link.partition("key=")[2][:65]
    return link.replace(key, key[:-1] + ("A" if key[-1] != "A" else "B"))


async def of_no_user(server, visitor, link):
    return link.replace(link.partition("key=")[2][:22], "x" * 22)


@pytest.mark.parametrize(
    "spoil", [spent, late, deactivated, with_another_address, altered, of_no_user]
)
async def test_one_that_does_not_count_leads_to_another_mail(
    visitor, new_visitor, server, demo, spoil
):
    await give_address(server)
    _, link = await link_of(visitor, demo)
    link = await spoil(server, new_visitor(), link)
    stranger = new_visitor()
    before = await everything(server.store)
    shown = await stranger.open(link)
    sent = await stranger.post(link, {"newPassword": NEW_PASSWORD})

    assert await everything(server.store) == before
    for page in (shown, sent):
        assert (page.status, page.name) == (410, "expired")
        assert REFUSED in text_of(page)
        assert "Start again at Demo application" in text_of(page)
    assert (await stranger.open(new_one(shown))).name == "reset"


async def test_the_button_for_another_mail_stays_in_the_sign_in_that_waits(visitor, server, demo):
    await give_address(server)
    page, link = await link_of(visitor, demo)
    refused = await visitor.open(link.replace("key=", "key=x"))
    again = await visitor.open(new_one(refused))

    assert again.name == "reset"
    assert again.inputs["loginName"] == "demo"
    assert Seen(again).text.count("to continue to Demo application") == 1
    assert urlsplit(again.url).query == urlsplit(page.url).query


@pytest.mark.parametrize(
    "query", ["", "key=", "key=a&key=b", "key=%00", "key=" + "x" * 65, "start=x"]
)
async def test_what_is_no_link_at_all_is_no_failure(visitor, server, query):
    page = await visitor.open(f"/ui/reset?{query}")

    assert (page.status, page.name) in [(410, "expired"), (200, "reset")]
    assert leads_on(page)


@pytest.mark.parametrize("password", ["", "short", "password", "x" * 201, "demo", "a\0bcdefgh"])
async def test_a_password_that_breaks_the_policy_is_refused_and_the_link_counts_still(
    visitor, server, demo, password
):
    await give_address(server)
    _, link = await link_of(visitor, demo)
    page = await visitor.open(link)
    before = await everything(server.store)
    answer = await visitor.submit(page, newPassword=password)

    assert (answer.status, answer.name) == (400, "change-password")
    assert leads_on(answer)
    assert await everything(server.store) == before
    assert "code" in (await visitor.submit(answer, newPassword=NEW_PASSWORD)).answer


async def test_of_several_at_once_one_sets_the_password(visitor, new_visitor, server, demo):
    await give_address(server)
    _, link = await link_of(visitor, demo)
    answers = await asyncio.gather(
        *[new_visitor().post(link, {"newPassword": f"{NEW_PASSWORD} {n}"}) for n in range(5)]
    )

    assert sorted(answer.status for answer in answers) == [303, 410, 410, 410, 410]
    assert await passwords_changed(server) == 1


async def test_the_code_and_the_link_of_a_mail_count_once_together(
    visitor, new_visitor, server, demo
):
    await give_address(server)
    page, link = await link_of(visitor, demo)
    choice = await visitor.submit(page, code=(await newest(visitor))["code"])
    late = await new_visitor().open(link)

    assert (choice.name, late.status) == ("change-password", 410)


async def test_a_form_of_another_site_sets_nothing(visitor, server, demo):
    await give_address(server)
    _, link = await link_of(visitor, demo)
    before = await everything(server.store)
    answer = await visitor.post(
        link, {"newPassword": NEW_PASSWORD}, headers={"Sec-Fetch-Site": "cross-site"}
    )

    assert (answer.status, answer.name) == (403, "error")
    assert leads_on(answer)
    assert await everything(server.store) == before


async def test_the_old_password_signs_nobody_in_any_more(visitor, new_visitor, server, demo):
    await give_address(server)
    _, link = await link_of(visitor, demo)
    await visitor.submit(await visitor.open(link), newPassword=NEW_PASSWORD)
    other = new_visitor()
    page = await at_password(other, demo, "demo")

    assert (await other.submit(page, password=server.user[1])).status == 400


async def test_a_second_factor_is_asked_for_in_whichever_browser_it_is_opened(
    visitor, new_visitor, server, demo
):
    await give_address(server)
    await give_app(server)
    _, link = await link_of(visitor, demo)
    other = new_visitor()
    page = await other.submit(await other.open(link), newPassword=NEW_PASSWORD)
    silent = await other.get(demo.authorize_url(prompt="none"))

    assert page.name == "totp"
    assert silent.answer["error"] == "login_required"
    done = await other.submit(page, code=code_of_app(server.clock))
    assert (done.status, done.name) == (200, "signed-in")


@pytest.mark.promise("security: reset link")
@on_both_stores
async def test_the_address_loses_the_key_before_anything_is_shown(
    visitor, new_visitor, server, demo
):
    await give_address(server)
    _, link = await link_of(visitor, demo)
    key, other = parse_qs(urlsplit(link).query)["key"][0], new_visitor()
    moved = await other.get(link)
    (cookie,) = [each for each in moved.headers.get_list("Set-Cookie") if "idp_reset=" in each]
    page = await other.open(moved.location)

    assert moved.status == 303
    assert parse_qs(urlsplit(moved.location).query)["link"] == [key[:22]]
    assert key[22:] not in moved.location
    assert key[22:] not in cookie
    assert {"HttpOnly", "SameSite=Lax", "Max-Age=600"} <= set(cookie.split("; "))
    assert page.name == "change-password"
    assert key[22:] not in page.text + page.url


@pytest.mark.promise("security: reset link")
@on_both_stores
@pytest.mark.parametrize(("seconds", "name"), [(599, "change-password"), (600, "expired")])
async def test_the_browser_keeps_the_key_for_ten_minutes(
    visitor, new_visitor, server, demo, seconds, name
):
    await give_address(server)
    _, link = await link_of(visitor, demo)
    other = new_visitor()
    moved = await other.get(link)
    server.clock.advance(seconds)

    assert (await other.open(moved.location)).name == name


@pytest.mark.promise("security: reset link")
async def test_the_cookie_of_one_link_opens_no_other_and_no_cookie_opens_none(
    visitor, new_visitor, server, demo
):
    await give_address(server)
    _, link = await link_of(visitor, demo)
    other = new_visitor()
    location = (await other.get(link)).location
    of_another = location.replace(link.partition("key=")[2][:22], "x" * 22)
    before = await everything(server.store)
    mixed = await other.post(of_another, {"newPassword": NEW_PASSWORD})
    without = await new_visitor().post(location, {"newPassword": NEW_PASSWORD})

    assert (mixed.status, without.status) == (410, 410)
    assert await everything(server.store) == before


@pytest.mark.promise("security: reset link")
async def test_no_log_line_has_the_key_of_a_link(visitor, new_visitor, server, demo):
    await give_address(server)
    _, link = await link_of(visitor, demo)
    key = parse_qs(urlsplit(link).query)["key"][0]
    with logged("debug") as stream:
        other = new_visitor()
        await other.submit(await other.open(link), newPassword=NEW_PASSWORD)
        await other.open(link)

    assert "/ui/reset" in stream.getvalue()
    assert key[22:] not in stream.getvalue()
