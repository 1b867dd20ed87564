"""The browser notifies applications of a session's end (OpenID Connect Front-Channel Logout)."""

from __future__ import annotations

import asyncio
import re
from urllib.parse import parse_qsl, urlsplit

import pytest

from idp.records import LOGOUT_REQUESTS
from tests.support.attacks.forged import part
from tests.support.pages.rendered import Page as Read
from tests.support.store.stored import everything, only

END_SESSION = "/oidc/v1/end_session"
BYE = "https://wiki.example/bye"
WIKI = "https://wiki.example/logout?tenant=1"
MAIL = "https://mail.example:8443/logout"


@pytest.fixture
def wiki(io_loop, server):
    changes = {"front_channel_logout_uri": WIKI, "post_logout_redirect_uris": [BYE]}
    return io_loop.run_sync(lambda: server.register("Wiki", **changes))


@pytest.fixture
def mail(io_loop, server):
    return io_loop.run_sync(lambda: server.register("Mail", front_channel_logout_uri=MAIL))


@pytest.fixture
def tokens(io_loop, server, visitor, wiki, mail):
    """The demo user, signed in to both."""
    got = io_loop.run_sync(lambda: wiki.tokens(visitor, *server.user))
    assert "code" in io_loop.run_sync(lambda: mail.silently(visitor))
    return got


def frames(page):
    return [element["src"] for element in Read(page.text).all("iframe")]


def policy(page):
    directives = page.headers["Content-Security-Policy"].split("; ")
    return dict(directive.partition(" ")[::2] for directive in directives)


async def signed_out(visitor, wiki, tokens, **changes):
    return await visitor.open(wiki.logout_url(id_token_hint=tokens["id_token"], **changes))


@pytest.mark.promise("logout: applications")
async def test_each_application_of_the_session_is_opened_in_a_frame(server, visitor, wiki, tokens):
    page = await signed_out(visitor, wiki, tokens)
    about = [("iss", server.issuer), ("sid", part(tokens["id_token"], 1)["sid"])]
    opened = {each.partition("?")[0]: parse_qsl(urlsplit(each).query) for each in frames(page)}

    assert (page.status, page.name) == (200, "logged-out")
    assert opened == {
        "https://wiki.example/logout": [("tenant", "1"), *about],
        "https://mail.example:8443/logout": about,
    }
    assert all(each.startswith((f"{WIKI}&iss=", f"{MAIL}?iss=")) for each in frames(page))


@pytest.mark.promise("logout: applications")
async def test_the_policy_allows_frames_of_exactly_these_origins(visitor, wiki, tokens):
    page = await signed_out(visitor, wiki, tokens)

    allowed = policy(page)["frame-src"].split()
    assert sorted(allowed) == ["https://mail.example:8443", "https://wiki.example"]
    assert policy(page)["default-src"] == "'none'"
    assert policy(page)["frame-ancestors"] == "'none'"


async def test_no_other_page_may_have_frames(visitor, wiki, tokens):
    page = await visitor.open(END_SESSION)

    assert "frame-src" not in policy(page)
    assert "frame-src" not in policy(await visitor.get("/ui/logged-out"))


async def test_an_application_in_a_frame_gets_at_nothing_but_itself(visitor, wiki, tokens):
    page = await signed_out(visitor, wiki, tokens)

    for frame in Read(page.text).all("iframe"):
        allowed = frame["sandbox"].split()
        assert sorted(allowed) == ["allow-forms", "allow-same-origin", "allow-scripts"]


@pytest.mark.promise("logout: applications")
@pytest.mark.parametrize("state", [None, "s p&c+ä"])
async def test_the_browser_goes_on_to_the_registered_address_by_itself(
    visitor, wiki, tokens, state
):
    page = await signed_out(visitor, wiki, tokens, state=state)
    seconds, _, onward = page.headers["Refresh"].partition(";url=")
    links = [link["href"] for link in Read(page.text).all("a")]
    there = await visitor.get(onward)

    assert int(seconds) in range(1, 6)
    assert onward in links
    assert there.status == 303
    assert there.location.partition("?")[0] == BYE
    assert there.answer == ({"state": state} if state else {})


async def test_without_an_address_the_page_is_the_end(visitor, wiki, tokens):
    page = await signed_out(visitor, wiki, tokens, post_logout_redirect_uri=None)

    assert len(frames(page)) == 2
    assert "Refresh" not in page.headers


async def test_a_confirmed_logout_shows_the_frames_too_when_it_is_sent_again(
    visitor, wiki, tokens
):
    page = await visitor.open(wiki.logout_url(client_id=wiki.client_id, state="s"))
    assert page.name == "logout-confirm"
    before = dict(visitor.cookies)
    await visitor.send(page, decision="logout")
    visitor.cookies.clear()
    visitor.cookies.update(before)
    page = await visitor.submit(page, decision="logout")

    assert len(frames(page)) == 2
    there = await visitor.get(page.headers["Refresh"].partition(";url=")[2])
    assert there.location == f"{BYE}?state=s"


async def test_a_confirmed_logout_that_is_sent_twice_at_once_leads_to_one_page(
    visitor, wiki, tokens
):
    page = await visitor.open(END_SESSION)
    sent = [visitor.send(page, decision="logout") for _ in range(2)]
    first, second = await asyncio.gather(*sent)

    assert first.location == second.location
    assert len(frames(await visitor.follow(second))) == 2


async def test_a_cross_site_post_comes_by_the_frames_too(visitor, wiki, tokens):
    form = {"id_token_hint": tokens["id_token"], "post_logout_redirect_uri": BYE}
    headers = {"Origin": "https://wiki.example", "Sec-Fetch-Site": "cross-site"}
    page = await visitor.follow(await visitor.post(END_SESSION, form, headers=headers))

    assert len(frames(page)) == 2


async def test_the_page_can_be_opened_again(server, visitor, wiki, tokens):
    page = await signed_out(visitor, wiki, tokens)
    before = await everything(server.store)
    again = await visitor.get(page.url)

    assert frames(again) == frames(page)
    assert await everything(server.store) == before


async def test_the_sessions_of_two_people_are_ended_each_by_its_own_frame(
    server, visitor, wiki, mail, tokens
):
    other = await server.copy_user("otto")
    url = wiki.authorize_url(prompt="select_account")
    assert "code" in (await visitor.sign_in(url, *other)).answer
    page = await visitor.open(END_SESSION)
    page = await visitor.submit(page, decision="logout")
    sids = [dict(parse_qsl(urlsplit(each).query))["sid"] for each in frames(page)]

    assert len(sids) == 3
    assert len(set(sids)) == 2


async def test_nobody_is_detained_when_no_application_wants_it(server, visitor, demo):
    tokens = await demo.tokens(visitor, *server.user)
    page = await visitor.get(demo.logout_url(id_token_hint=tokens["id_token"]))

    assert page.location == demo.post_logout_redirect_uri
    assert [one async for one in server.store.scan(LOGOUT_REQUESTS)] == []


async def test_a_second_logout_by_the_same_hint_goes_straight_on(visitor, wiki, tokens):
    await signed_out(visitor, wiki, tokens)
    page = await visitor.get(wiki.logout_url(id_token_hint=tokens["id_token"]))

    assert page.location == BYE


@pytest.mark.parametrize("path", ["/ui/logged-out", "/ui/logged-out/onward"])
@pytest.mark.parametrize("request_id", ["unknown", "", "x" * 300])
async def test_an_unknown_logout_is_just_over(visitor, path, request_id):
    page = await visitor.open(f"{path}?request={request_id}")

    assert (page.status, page.name) == (200, "logged-out")
    assert frames(page) == []


async def test_the_page_is_there_for_an_hour(server, visitor, wiki, tokens):
    page = await signed_out(visitor, wiki, tokens)
    assert (await only(server.store, LOGOUT_REQUESTS)).ended_session_ids
    server.clock.advance(3601)
    late = await visitor.get(page.url)

    assert (late.status, frames(late)) == (200, [])


async def test_the_page_speaks_the_language_that_the_application_asked_for(visitor, wiki, tokens):
    page = await signed_out(visitor, wiki, tokens, ui_locales="de")

    assert page.headers["Content-Language"] == "de"
    assert re.search("abgemeldet", page.text)


@pytest.mark.promise("logout: repeated logout tokens")
async def test_discovery_says_that_it_is_done(visitor):
    document = (await visitor.get("/.well-known/openid-configuration")).json()

    assert document["frontchannel_logout_supported"] is True
    assert document["frontchannel_logout_session_supported"] is True
