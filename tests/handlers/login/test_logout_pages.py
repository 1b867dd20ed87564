"""Signing out: asked first when nobody proves the wish, told afterwards, and thorough."""

import asyncio

import pytest

from idp.records import EVENTS
from tests.support.sign_in.steps import Seen, at_password, leads_on, shape, text_of

BUTTONS = [("decision", "logout"), ("decision", "stay")]


@pytest.fixture
def tokens(io_loop, visitor, demo, server):
    """The visitor is signed in to the demo with these."""
    return io_loop.run_sync(lambda: demo.tokens(visitor, *server.user))


async def test_a_logout_without_a_hint_is_confirmed_first(visitor, demo, tokens):
    page = await visitor.open("/oidc/v1/end_session")

    assert (page.status, *shape(page)) == (200, "logout-confirm", [], BUTTONS)
    assert "Dana Demo" in text_of(page)
    assert "code" in await demo.silently(visitor)


async def test_yes_ends_every_session_of_this_browser(visitor, demo, server, tokens):
    minnie = await server.copy_user("minnie")
    page = await at_password(visitor, demo, minnie[0], prompt="select_account")
    await visitor.submit(page, password=minnie[1])
    page = await visitor.open("/oidc/v1/end_session")
    assert "These 2 accounts" in text_of(page)
    page = await visitor.submit(page, decision="logout")

    assert (page.status, page.name) == (200, "logged-out")
    assert (await demo.silently(visitor))["error"] == "login_required"
    assert (await demo.userinfo(visitor, tokens["access_token"])).status == 401


async def test_the_session_of_another_browser_lives_on(visitor, new_visitor, demo, server, tokens):
    other = new_visitor()
    await demo.tokens(other, *server.user)
    page = await visitor.open("/oidc/v1/end_session")
    await visitor.submit(page, decision="logout")

    assert "code" in await demo.silently(other)


async def test_no_leaves_everything_as_it_was(visitor, demo, tokens):
    page = await visitor.open(demo.logout_url(client_id=demo.client_id))
    page = await visitor.submit(page, decision="stay")

    assert (page.status, page.name) == (200, "signed-in")
    assert demo.post_logout_redirect_uri in Seen(page).links
    assert "code" in await demo.silently(visitor)


async def test_a_registered_address_is_gone_to_afterwards(visitor, demo, tokens):
    page = await visitor.open(demo.logout_url(client_id=demo.client_id, state="bye & <b>"))
    assert page.name == "logout-confirm"
    page = await visitor.send(page, decision="logout")

    assert page.status == 303
    assert page.location.startswith(demo.post_logout_redirect_uri)
    assert page.answer == {"state": "bye & <b>"}


async def test_with_a_hint_nobody_is_asked(visitor, demo, server, tokens):
    page = await visitor.get(demo.logout_url(id_token_hint=tokens["id_token"], state="s"))

    assert page.location == demo.post_logout_redirect_uri + "?state=s"
    types = [event.type async for event in server.store.scan(EVENTS)]
    assert types.count("session.ended") == 1


async def test_with_a_hint_alone_the_page_leads_back(visitor, demo, tokens):
    page = await visitor.open(
        demo.logout_url(id_token_hint=tokens["id_token"], post_logout_redirect_uri=None)
    )

    assert (page.status, page.name) == (200, "logged-out")
    assert demo.post_logout_redirect_uri in Seen(page).links


async def test_without_a_session_the_page_says_so_at_once(visitor):
    page = await visitor.open("/oidc/v1/end_session")

    assert (page.status, page.name) == (200, "logged-out")
    assert leads_on(page)


async def test_a_request_that_is_gone_says_so_and_leads_on(visitor, server, tokens):
    page = await visitor.open("/oidc/v1/end_session")
    server.clock.advance(3601)
    late = await visitor.submit(page, decision="logout")
    unknown = await visitor.get("/ui/logout?request=unknown")

    for each in (late, unknown):
        assert (each.status, each.name) == (410, "expired")
        assert "No account was signed out" in text_of(each)
        assert f"{server.issuer}/oidc/v1/end_session".endswith(Seen(each).links[0])
    assert (await visitor.open(Seen(late).links[0])).name == "logout-confirm"


@pytest.mark.parametrize("request_id", ["", "%00", "x" * 300, "%F0%9F%92%A9", "a&request=b"])
async def test_an_address_that_names_no_request_is_no_failure(visitor, request_id):
    page = await visitor.get(f"/ui/logout?request={request_id}")

    assert page.status in (400, 410)
    assert leads_on(page)


async def test_the_form_sent_twice_is_done_once(visitor, demo, server, tokens):
    page = await visitor.open("/oidc/v1/end_session")
    first = await visitor.submit(page, decision="logout")
    second = await visitor.submit(page, decision="logout")

    assert (first.name, second.name) == ("logged-out", "logged-out")
    types = [event.type async for event in server.store.scan(EVENTS)]
    assert types.count("session.ended") == 1


async def test_two_logouts_at_one_moment_both_end_well(visitor, demo, server, tokens):
    page = await visitor.open("/oidc/v1/end_session")
    answers = await asyncio.gather(*[visitor.send(page, decision="logout") for _ in range(4)])

    assert {answer.status for answer in answers} == {303}
    for answer in answers:
        assert (await visitor.follow(answer)).name == "logged-out"
    types = [event.type async for event in server.store.scan(EVENTS)]
    assert types.count("session.ended") == 1


@pytest.mark.parametrize("token", [None, "", "wrong"])
async def test_without_its_token_the_form_counts_for_nothing(visitor, demo, tokens, token):
    page = await visitor.open("/oidc/v1/end_session")
    form = {"decision": "logout"} | ({} if token is None else {"token": token})
    refused = await visitor.post(page.url, form)

    assert refused.status == 403
    assert page.url.endswith(Seen(refused).links[0])
    assert "code" in await demo.silently(visitor)


async def test_another_browsers_form_signs_nobody_out(visitor, new_visitor, demo, server, tokens):
    stranger = new_visitor()
    await demo.tokens(stranger, *server.user)
    theirs = await stranger.open("/oidc/v1/end_session")
    refused = await visitor.send(theirs, decision="logout")

    assert refused.status == 403
    assert "code" in await demo.silently(visitor)


async def test_after_the_logout_the_old_cookie_opens_nothing(visitor, new_visitor, demo, tokens):
    thief = new_visitor()
    thief.cookies.update(visitor.cookies)
    assert "code" in await demo.silently(thief)
    page = await visitor.open("/oidc/v1/end_session")
    await visitor.submit(page, decision="logout")

    assert (await demo.silently(thief))["error"] == "login_required"
    assert dict(thief.cookies) != dict(visitor.cookies)


async def test_the_page_speaks_the_language_that_the_application_asked_for(visitor, tokens):
    page = await visitor.open("/oidc/v1/end_session?ui_locales=xx%20de")

    assert page.headers["Content-Language"] == "de"


async def test_the_page_may_lead_to_the_application_of_the_request(server, visitor, demo, tokens):
    page = await visitor.open(demo.logout_url(client_id=demo.client_id))
    policy = page.headers["Content-Security-Policy"]

    assert "form-action" not in policy


@pytest.mark.promise("logout: afterwards")
async def test_a_logout_ends_the_tokens_of_a_session_that_was_only_idle(server, visitor, demo):
    tokens = await demo.tokens(visitor, *server.user)
    server.clock.advance(server.service.config.session_idle_seconds + 1)
    refreshed = (await demo.refresh(visitor, tokens["refresh_token"])).json()
    assert (await demo.userinfo(visitor, refreshed["access_token"])).status == 200

    page = await visitor.open("/oidc/v1/end_session")

    assert page.name == "logged-out"
    assert (await demo.userinfo(visitor, refreshed["access_token"])).status == 401
