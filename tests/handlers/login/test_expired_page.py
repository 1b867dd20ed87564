"""Wherever a browser comes from, it finds the way on: reload, back, other tabs, other browsers."""

from urllib.parse import parse_qsl, urlsplit

import pytest

from idp.records import APPLICATIONS
from storage import Update
from tests.support.sign_in.steps import Seen, at_change, at_password, cancel, leads_on, text_of

PATHS = [
    "/ui/login",
    "/ui/login/name",
    "/ui/login/password",
    "/ui/login/accounts",
    "/ui/login/change-password",
    "/ui/login/reset",
    "/ui/login/reset-code",
]
TOO_LATE = "This sign-in took too long."
FINISHED = "This sign-in is already finished."


def at(page, path):
    """The same flow at another page's address."""
    return page.url.replace(urlsplit(page.url).path + "?", path + "?")


def start_of(page):
    (start,) = [one["href"] for one in Seen(page).all("a") if one.get("class") == "button"]
    return start


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "flow", ["unknown", "", "%00", "x" * 300, "%F0%9F%92%A9", "%", "a&flow=b"]
)
async def test_an_address_that_names_no_flow_is_no_failure(visitor, demo, path, flow):
    page = await visitor.get(f"{path}?flow={flow}&client_id={demo.client_id}")

    assert (page.status, page.name) in [(400, "error"), (410, "expired"), (200, "signed-in")]
    assert leads_on(page)


async def forged(server, visitor, note):
    """A note for another application, with the signature of this one."""
    other = await server.register("Evil twin")
    theirs = await note_of(visitor, other)
    return theirs.partition(".")[0] + "." + note.partition(".")[2]


async def doubled(server, visitor, note):
    return f"{note}&start={note}"


async def cut(server, visitor, note):
    return note[:-1]


async def without_signature(server, visitor, note):
    return note.partition(".")[0]


async def nothing(server, visitor, note):
    return ""


async def noise(server, visitor, note):
    return "%00" + "x" * 3000 + ".%F0%9F%92%A9"


async def note_of(visitor, party):
    """What the addresses of a sign-in say of its beginning."""
    page = await visitor.open(party.authorize_url())
    return dict(parse_qsl(urlsplit(page.url).query))["start"]


@pytest.mark.parametrize("spoil", [forged, doubled, cut, without_signature, nothing, noise])
async def test_a_note_that_is_not_ours_names_no_application(visitor, demo, server, spoil):
    note = await spoil(server, visitor, await note_of(visitor, demo))
    page = await visitor.get(f"/ui/login?flow=unknown&start={note}")

    assert (page.status, page.name) == (410, "expired")
    assert leads_on(page)
    assert "Go back to the application you want to use" in text_of(page)


async def test_an_application_that_is_switched_off_is_not_advertised(visitor, demo, server):
    page = await visitor.open(demo.authorize_url())
    await server.store.commit(Update(APPLICATIONS, demo.client_id, set={"state": "inactive"}))
    page = await visitor.get(page.url)

    assert (page.status, page.name) == (410, "expired")
    assert "Demo application" not in page.text


@pytest.mark.parametrize("path", PATHS)
async def test_after_an_hour_a_sign_in_starts_again(visitor, demo, server, path):
    page = await visitor.open(demo.authorize_url())
    server.clock.advance(3601)
    shown = await visitor.get(at(page, path))
    sent = await visitor.post(at(page, path), {**page.hidden, "loginName": "demo"})

    for late in (shown, sent):
        assert (late.status, late.name) == (410, "expired")
        assert TOO_LATE in text_of(late)
        assert "Start again at Demo application" in text_of(late)
        assert (await visitor.get(start_of(late))).name == "demo"


async def test_within_the_hour_it_goes_on(visitor, demo, server):
    page = await visitor.open(demo.authorize_url())
    server.clock.advance(3599)
    page = await visitor.submit(page, loginName="demo")

    assert "code" in (await visitor.submit(page, password=server.user[1])).answer


@pytest.mark.parametrize("path", PATHS)
async def test_in_another_browser_a_sign_in_starts_again(visitor, new_visitor, demo, server, path):
    page = await visitor.open(demo.authorize_url())
    known, unknown = new_visitor(), new_visitor()
    await demo.tokens(known, *server.user)
    for stranger in (known, unknown):
        shown = await stranger.get(at(page, path))
        sent = await stranger.post(at(page, path), {**page.hidden, "loginName": "demo"})

        assert (shown.status, shown.name) == (410, "expired")
        assert (sent.status, sent.name) == (403, "expired")
        assert start_of(shown) == start_of(sent) == f"{server.issuer}/demo"

    page = await visitor.submit(page, loginName="demo")
    assert "code" in (await visitor.submit(page, password=server.user[1])).answer


async def test_the_note_of_a_sign_in_keeps_its_language_without_any_cookie(
    visitor, new_visitor, demo, server
):
    page = await visitor.open(demo.authorize_url(ui_locales="de"))
    late = await new_visitor().get(page.url)

    assert late.headers["Content-Language"] == "de"
    assert "blockiert das Cookie" in text_of(late)


async def test_a_lost_cookie_leads_to_a_new_start(visitor, demo, server):
    page = await at_password(visitor, demo, "demo")
    visitor.cookies.clear()
    sent = await visitor.submit(page, password=server.user[1])
    shown = await visitor.get(page.url)

    assert (sent.status, sent.name) == (403, "expired")
    assert (shown.status, shown.name) == (410, "expired")
    assert start_of(sent) == start_of(shown)
    assert "your browser is blocking the cookie" in text_of(shown)
    assert "code" in (await visitor.sign_in(demo.authorize_url(), *server.user)).answer


@pytest.mark.parametrize("path", PATHS)
async def test_the_back_button_after_the_sign_in_finds_it_finished(visitor, demo, server, path):
    page = await at_password(visitor, demo, "demo")
    done = await visitor.submit(page, password=server.user[1])
    await demo.redeem(visitor, done.answer["code"])
    shown = await visitor.get(at(page, path))
    sent = await visitor.post(at(page, path), {**page.hidden, "password": server.user[1]})

    for late in (shown, sent):
        assert (late.status, late.name) == (410, "expired")
        assert FINISHED in text_of(late)
        assert (await visitor.get(start_of(late))).name == "demo"


async def test_a_cancelled_sign_in_is_finished_after_a_minute(visitor, demo, server):
    page = await visitor.open(demo.authorize_url())
    await cancel(visitor, page)
    server.clock.advance(60)
    again = await cancel(visitor, page)

    assert (again.status, again.name) == (410, "expired")
    assert FINISHED in text_of(again)


async def test_a_reload_shows_the_same_step(visitor, demo):
    page = await at_password(visitor, demo, "demo")
    again = await visitor.open(page.url)

    assert again.text == page.text


async def test_the_back_button_to_the_name_lets_it_be_changed(visitor, demo, server):
    name = await visitor.open(demo.authorize_url())
    await visitor.submit(name, loginName="nobody")
    page = await visitor.submit(name, loginName="demo")  # the form as it was before

    assert page.inputs["loginName"] == "demo"
    assert "code" in (await visitor.submit(page, password=server.user[1])).answer


async def test_a_stale_password_form_leads_to_the_step_that_is_due(visitor, demo, server):
    page = await at_password(visitor, demo, "demo")
    await visitor.submit(await visitor.open(at(page, "/ui/login/name")), loginName="other")
    page = await visitor.submit(page, password="whatever")

    assert (page.status, page.name) == (400, "password")
    assert page.inputs["loginName"] == "other"


async def test_a_second_tab_finishes_by_itself_when_the_first_has_signed_in(visitor, demo, server):
    tab = await visitor.open(demo.authorize_url(state="second"))
    await demo.tokens(visitor, *server.user)
    page = await visitor.open(tab.url)

    assert "code" in page.answer
    assert page.answer["state"] == "second"


async def test_a_second_tabs_form_counts_after_the_first_has_signed_in(visitor, demo, server):
    tab = await at_password(visitor, demo, "demo", state="second")
    await demo.tokens(visitor, *server.user)
    page = await visitor.submit(tab, password=server.user[1])

    assert "code" in page.answer
    assert page.answer["state"] == "second"


async def test_two_tabs_of_one_sign_in_answer_once(visitor, demo, server):
    page = await at_password(visitor, demo, "demo")
    first = await visitor.submit(page, password=server.user[1])
    second = await visitor.submit(page, password=server.user[1])

    assert "code" in first.answer
    assert second.location == first.location


async def test_a_form_sent_twice_before_the_answer_was_followed_signs_in(visitor, demo, server):
    page = await at_password(visitor, demo, "demo")
    first = await visitor.send(page, password=server.user[1])
    second = await visitor.submit(page, password=server.user[1])

    assert first.status == 303
    assert "code" in second.answer


async def test_a_browser_that_lost_the_answer_of_its_sign_in_gets_it_again(visitor, demo, server):
    page = await at_password(visitor, demo, "demo")
    before = dict(visitor.cookies)
    await visitor.send(page, password=server.user[1])
    visitor.cookies.clear()
    visitor.cookies.update(before)
    late = await visitor.submit(page, password=server.user[1])

    assert "code" in late.answer


@pytest.mark.promise("session: cookies")
async def test_a_posted_request_is_bound_by_its_first_page(visitor, new_visitor, demo, server):
    elsewhere = {"Sec-Fetch-Site": "cross-site"}
    answer = await visitor.post("/oauth/v2/authorize", demo.authorize_form(), headers=elsewhere)
    assert not answer.headers.get_list("Set-Cookie")
    page = await visitor.follow(answer)
    stolen = await new_visitor().get(page.url)

    assert page.name == "login-name"
    assert (stolen.status, stolen.name) == (410, "expired")
    page = await visitor.submit(page, loginName="demo")
    assert "code" in (await visitor.submit(page, password=server.user[1])).answer


async def test_an_application_without_a_home_page_is_named_at_least(visitor, server):
    native = await server.register("Pocket", redirect_uris=["com.example.pocket:/cb"])
    note = await note_of(visitor, native)
    page = await visitor.get(f"/ui/login?flow=unknown&start={note}")

    assert "Pocket" in page.text
    assert leads_on(page)
    assert "com.example.pocket:" not in " ".join(Seen(page).links)


@pytest.mark.parametrize("path", ["/nowhere", "/ui/nowhere", "/ui/static/0/style.css", "//x"])
async def test_an_address_that_is_none_leads_to_the_start(visitor, server, path):
    page = await visitor.get(server.issuer + path, headers={"Accept": "text/html,*/*"})

    assert (page.status, page.name) == (404, "error")
    assert page.headers["X-Request-Id"] in text_of(page)
    assert (await visitor.open(Seen(page).links[0])).name == "signed-in"


@pytest.mark.parametrize("accept", ["*/*", "application/json", "image/webp", ""])
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
async def test_below_the_pages_whatever_is_asked_for_is_answered_by_a_page(
    visitor, accept, method
):
    page = await visitor.request(method, "/ui/nowhere", headers={"Accept": accept})

    assert (page.status, page.name) == (404, "error")
    assert leads_on(page)


@pytest.mark.parametrize("path", [*PATHS, "/ui/reset", "/ui/verify-email", "/ui/device"])
async def test_too_much_at_once_leads_back_to_the_page(visitor, demo, path):
    page = await visitor.open(demo.authorize_url())
    answer = await visitor.post(at(page, path), {"token": "x" * 100_000})

    assert (answer.status, answer.name) == (413, "error")
    assert leads_on(answer)


async def test_a_browser_without_cookies_sees_what_to_allow_and_may_try_again(
    new_visitor, demo, server
):
    page = await new_visitor().open((await new_visitor().get(demo.authorize_url())).location)
    again = await new_visitor().get(start_of(page))

    assert (page.status, page.name) == (410, "expired")
    assert "your browser is blocking the cookie" in text_of(page)
    assert again.name == "demo"


@pytest.mark.parametrize("address", ["/ui/login?flow=%", "/ui/reset?key=%ff", "/ui/logout?a=%zz"])
async def test_a_mangled_address_leads_to_the_start_and_not_back_to_itself(visitor, address):
    page = await visitor.get(address)

    assert (page.status, page.name) == (400, "error")
    assert [link for link in Seen(page).links if link == address] == []
    assert (await visitor.open(Seen(page).links[0])).status == 200


async def test_a_page_used_with_another_method_leads_back(visitor, demo):
    page = await visitor.open(demo.authorize_url())
    wrong = await visitor.request("PUT", page.url)

    assert (wrong.status, wrong.name) == (405, "error")
    assert wrong.headers["Allow"] == "GET, POST"
    assert (await visitor.open(Seen(wrong).links[0])).name == "login-name"


async def test_a_page_of_one_step_never_answers_for_another(visitor, demo, server):
    page = await at_change(visitor, demo, server.start.admin)
    sent = await visitor.post(at(page, "/ui/login/password"), {**page.hidden, "password": "x"})

    assert (await visitor.follow(sent)).name == "change-password"
