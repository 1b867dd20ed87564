"""The demonstration: a relying party that anybody can try, with each of its requests shown."""

import base64
import re
import ssl

import pytest
from tornado.httpclient import AsyncHTTPClient, HTTPClientError

from idp.records import APPLICATIONS, DEMO_VISITS, INSTANCE_ID, INSTANCES, USERS
from storage import Delete, Update
from tests.support.sign_in.steps import Seen, cancel, shape, text_of

BUTTONS = [("decision", "refresh"), ("decision", "logout")]


@pytest.fixture
def signed_in(io_loop, visitor, server):
    """The visitor's page at the demo after the sign-in there."""
    return io_loop.run_sync(lambda: sign_in(visitor, server))


async def sign_in(visitor, server):
    return await finish(visitor, await visitor.sign_in("/demo/sign-in", *server.user))


async def finish(visitor, page):
    """Go on through every redirect, to the demo's page."""
    while page.location:
        page = await visitor.get(page.location)
    return page


def titles_of(page):
    return [part.split("</summary>")[0] for part in page.text.split("<details>\n<summary>")[1:]]


def access_token(page):
    """As much of it as the page shows."""
    return re.search('access_token</code>.*<code dir="ltr">(.+)</code>', page.text)[1]


async def test_the_demo_offers_a_sign_in(visitor):
    page = await visitor.get("/demo")

    assert (page.status, *shape(page)) == (200, "demo", [], [])
    assert Seen(page).links[0] == "/demo/sign-in"


async def test_the_demo_shows_who_signed_in_and_how(signed_in):
    assert shape(signed_in) == ("demo", [], BUTTONS)
    assert "dana@example.com" in text_of(signed_in)
    assert titles_of(signed_in) == [
        "Authorization request",
        "Authorization response",
        "Token request: the code is redeemed",
        "Key set: to verify the ID token",
        "Userinfo request",
    ]
    assert "POST http://localhost" in text_of(signed_in)


async def test_whole_tokens_are_shown_only_where_they_were_sent(signed_in):
    assert len(access_token(signed_in)) == 49


async def test_the_tokens_can_be_refreshed(visitor, signed_in):
    page = await visitor.submit(signed_in, decision="refresh")

    assert (page.status, page.name) == (200, "demo")
    assert titles_of(page)[-1] == "Token request: the tokens are refreshed"
    assert access_token(page) != access_token(signed_in)


async def test_a_refresh_that_is_refused_is_reported(visitor, signed_in, server):
    await server.store.commit(
        Update(APPLICATIONS, server.start.demo.client_id, set={"grant_types": []})
    )
    page = await visitor.submit(signed_in, decision="refresh")

    assert (page.status, page.name) == (200, "demo")
    assert "<title>Error: " in page.text


@pytest.mark.parametrize(
    "error",
    [
        ConnectionRefusedError("refused"),
        ssl.SSLCertVerificationError("unknown authority"),
        HTTPClientError(599, "Timeout while connecting"),
    ],
)
async def test_an_issuer_that_this_machine_can_not_reach_is_reported(
    visitor, server, monkeypatch, error
):
    """Behind a proxy whose name or certificate is known to browsers alone."""
    shown = await sign_in(visitor, server)

    async def fetch(*_, **__):
        raise error

    monkeypatch.setattr(AsyncHTTPClient, "fetch", fetch)
    refreshed = await visitor.submit(shown, decision="refresh")
    signed_in_again = await finish(visitor, await visitor.get("/demo/sign-in"))

    for page in (refreshed, signed_in_again):
        assert (page.status, page.name) == (200, "demo")
        assert f"{server.issuer}/oauth/v2/token can't be reached: {error}" in text_of(page)
    assert access_token(refreshed) == access_token(shown)


async def test_signing_out_ends_it_here_and_at_the_service(visitor, demo, signed_in):
    page = await visitor.submit(signed_in, decision="logout")

    assert (page.status, *shape(page)) == (200, "demo", [], [])
    assert "dana@example.com" not in page.text
    assert titles_of(page) == ["Logout request"]
    assert (await demo.silently(visitor))["error"] == "login_required"


async def test_silently_it_signs_in_who_is_known(visitor, signed_in):
    page = await finish(visitor, await visitor.get("/demo/sign-in?prompt=none"))

    assert (page.name, page.buttons) == ("demo", BUTTONS)


async def test_silently_it_reports_that_no_user_is_signed_in(visitor):
    page = await finish(visitor, await visitor.get("/demo/sign-in?prompt=none"))

    assert "login_required" in text_of(page)
    assert Seen(page).links[0] == "/demo/sign-in"


@pytest.mark.parametrize(
    ("prompt", "name"), [("login", "password"), ("select_account", "accounts")]
)
async def test_it_asks_again_in_another_way(visitor, server, signed_in, prompt, name):
    server.clock.advance(1)
    page = await visitor.open(f"/demo/sign-in?prompt={prompt}")

    assert page.name == name


@pytest.mark.parametrize("prompt", ["evil", "none login", "%00", '"><svg>', "consent&prompt=x"])
async def test_a_prompt_that_is_none_harms_nothing(visitor, prompt):
    page = await visitor.get(f"/demo/sign-in?prompt={prompt}")

    assert page.status in (303, 400)


@pytest.mark.parametrize("prompt", ["login", "bogus"])
async def test_the_request_that_is_shown_is_the_one_that_is_sent(visitor, prompt):
    sent = (await visitor.get(f"/demo/sign-in?prompt={prompt}")).location
    text = text_of(await visitor.get("/demo"))
    shown = text[text.index("GET ") :]

    assert shown.split()[1] == sent
    assert ("prompt" in sent) == (prompt == "login")


async def test_a_cancelled_sign_in_is_reported(visitor):
    page = await finish(visitor, await cancel(visitor, await visitor.open("/demo/sign-in")))

    assert "access_denied" in text_of(page)


@pytest.mark.parametrize(
    "query",
    [
        "",
        "?code=x&state=wrong",
        "?code=x",
        "?state=a&state=b",
        "?code=%ff",
        "?error=evil&error_description=evil",
    ],
)
async def test_an_answer_to_nobodys_question_is_dropped(visitor, server, signed_in, query):
    page = await visitor.get(f"/demo/callback{query}")
    after = await visitor.get("/demo")

    assert page.status in (303, 400)
    assert "evil" not in after.text
    assert after.buttons == BUTTONS


async def test_an_answer_counts_once(visitor, server):
    page = await visitor.sign_in("/demo/sign-in", *server.user)
    first = await visitor.get(page.location)
    second = await visitor.get(page.location)
    shown = await visitor.get("/demo")

    assert (first.status, second.status) == (303, 303)
    assert shown.buttons == BUTTONS


async def test_another_issuers_answer_is_dropped(visitor, server):
    page = await visitor.sign_in("/demo/sign-in", *server.user)
    await visitor.get(page.location.replace("iss=http", "iss=https"))

    assert (await visitor.get("/demo")).buttons == []


@pytest.mark.parametrize("token", [None, "", "wrong"])
async def test_a_form_without_its_token_does_nothing(visitor, signed_in, token):
    form = {"decision": "logout"} | ({} if token is None else {"token": token})
    await visitor.post("/demo", form)

    assert (await visitor.get("/demo")).buttons == BUTTONS


async def test_another_sites_form_does_nothing(visitor, signed_in):
    headers = {"Sec-Fetch-Site": "cross-site"}
    page = await visitor.post("/demo", {**signed_in.hidden, "decision": "logout"}, headers=headers)

    assert page.status == 403
    assert (await visitor.get("/demo")).buttons == BUTTONS


async def test_another_browser_sees_nothing(new_visitor, signed_in):
    assert "dana@example.com" not in (await new_visitor().get("/demo")).text


async def test_after_twelve_hours_it_has_forgotten(visitor, server, signed_in):
    server.clock.advance(12 * 3600 + 1)
    page = await visitor.submit(signed_in, decision="refresh")

    assert (page.status, *shape(page)) == (200, "demo", [], [])
    assert (await sign_in(visitor, server)).buttons == BUTTONS


async def test_what_it_remembers_is_sealed(server, signed_in):
    (visit,) = [one async for one in server.store.scan(DEMO_VISITS)]

    body = visit.sealed.rpartition(".")[2]
    octets = base64.urlsafe_b64decode(body + "=" * (-len(body) % 4))
    assert len(octets) > 100
    assert b"dana@example.com" not in octets  # so long that chance never writes it
    assert set(visit.__struct_fields__) == {"id", "sealed", "expires_at"}


async def test_a_demo_whose_application_is_gone_says_so(visitor, server):
    await server.store.commit(Delete(APPLICATIONS, server.start.demo.client_id))
    page = await visitor.open("/demo/sign-in")

    assert (page.status, page.name) == (400, "explain")


async def test_without_its_registration_there_is_no_demo(visitor, server):
    await server.store.commit(Update(INSTANCES, INSTANCE_ID, set={"demo": None}))
    page = await visitor.get("/demo", headers={"Accept": "text/html"})

    assert page.status == 404


async def test_names_of_strangers_never_become_markup(visitor, server, signed_in):
    found = await server.store.find(USERS, {"login_key": "demo"})
    canary = '"><svg/onload=alert(1)>'
    changed = {"profile.display_name": canary}
    await server.store.commit(Update(USERS, found.records[0].id, set=changed))
    await visitor.submit(signed_in, decision="logout")
    page = await sign_in(visitor, server)

    assert canary not in page.text
    assert not any("onload" in attributes for _, attributes in Seen(page).elements)
