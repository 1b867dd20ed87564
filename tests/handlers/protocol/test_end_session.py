"""Logging out (OpenID Connect RP-Initiated Logout 1.0)."""

from __future__ import annotations

from urllib.parse import quote, urlencode

import pytest
from jwcrypto.jwk import JWK
from jwcrypto.jwt import JWT

from idp.oauth.endpoints import end_session
from idp.records import APPLICATIONS, BROWSERS, SESSIONS, LogoutRequest
from storage import Update
from tests.support.attacks import forged
from tests.support.browsers.wire import FORM
from tests.support.service import shared_key
from tests.support.store.both_stores import on_both_stores, store_as_marked  # noqa: F401
from tests.support.store.stored import everything, only

PATH = "/oidc/v1/end_session"
BYE = "https://client.example/bye"


@pytest.fixture
def client(io_loop, server):
    """An application with one address for after the logout."""
    return io_loop.run_sync(lambda: server.register(post_logout_redirect_uris=[BYE]))


@pytest.fixture
def tokens(io_loop, server, visitor, client) -> dict:
    """The demo user, signed in to that application."""
    return io_loop.run_sync(lambda: client.tokens(visitor, *server.user))


async def is_signed_in(visitor, client) -> bool:
    return "code" in await client.silently(visitor)


async def ask(visitor, method: str, form: dict):
    if method == "GET":
        return await visitor.get(f"{PATH}?{urlencode(form)}")
    return await visitor.post(PATH, form)


@pytest.mark.promise(
    "logout: id_token_hint", "logout: post_logout_redirect_uri", "logout: methods"
)
@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_a_hint_ends_its_session_at_once_and_leads_to_the_registered_address(
    visitor, client, tokens, method
):
    form = {"id_token_hint": tokens["id_token"], "post_logout_redirect_uri": BYE}
    page = await ask(visitor, method, form)

    assert (page.status, page.headers["Location"]) == (303, BYE)
    assert not await is_signed_in(visitor, client)
    assert (await client.userinfo(visitor, tokens["access_token"])).status == 401


async def test_a_logout_changes_the_session_and_the_cookie(server, visitor, client, tokens):
    before = await only(server.store, BROWSERS)
    page = await visitor.get(client.logout_url(id_token_hint=tokens["id_token"]))
    session, agent = await only(server.store, SESSIONS), await only(server.store, BROWSERS)
    events = (await everything(server.store))["events"].values()

    assert session.ended_at == server.clock.now()
    assert agent.secret_hash != before.secret_hash
    assert "Set-Cookie" in page.headers
    assert [event.type for event in events].count("session.ended") == 1


async def test_an_old_cookie_is_worth_nothing_after_the_logout(
    visitor, client, tokens, new_visitor
):
    thief = new_visitor()
    for cookie in visitor.cookies.jar:
        thief.cookies.jar.set_cookie(cookie)
    had_access = await is_signed_in(thief, client)
    await visitor.get(client.logout_url(id_token_hint=tokens["id_token"]))

    assert had_access
    assert not await is_signed_in(thief, client)


STATES = [None, "s", "s" * 4096, "a+b c%20&x=1#f", "\U0001f600", "nul\0", "line\r\nX-Injected: 1"]


@pytest.mark.promise("logout: state", "logout: methods")
@pytest.mark.parametrize("state", STATES)
async def test_state_comes_back_unchanged_and_alone(visitor, client, tokens, state):
    form = {"id_token_hint": tokens["id_token"], "post_logout_redirect_uri": BYE}
    page = await visitor.post(PATH, form | ({} if state is None else {"state": state}))
    expected = BYE if state is None else f"{BYE}?state={quote(state, safe='')}"

    assert page.headers["Location"].replace("~", "%7E") == expected.replace("~", "%7E")
    assert "X-Injected" not in page.headers


@pytest.mark.promise("logout: id_token_hint", "logout: methods")
async def test_an_expired_hint_is_still_a_hint(server, visitor, client, tokens):
    for _ in range(3):
        server.clock.advance(11 * 3600)
        assert await is_signed_in(visitor, client)
    page = await visitor.get(client.logout_url(id_token_hint=tokens["id_token"]))

    assert page.headers["Location"] == BYE
    assert not await is_signed_in(visitor, client)


async def test_the_same_logout_twice_ends_the_same_way(server, visitor, client, tokens):
    url = client.logout_url(id_token_hint=tokens["id_token"], state="s")
    first = await visitor.get(url)
    before = await everything(server.store)
    second = await visitor.get(url)

    assert first.location == second.location == f"{BYE}?state=s"
    assert await everything(server.store) == before


@pytest.mark.full
@pytest.mark.promise("security: logout")
@on_both_stores
async def test_a_hint_ends_only_sessions_of_the_browser_that_brings_it(
    server, visitor, client, tokens, new_visitor
):
    foreign = new_visitor()
    other = await client.tokens(foreign, *await server.copy_user("otto"))
    before = await everything(server.store)
    asked = await foreign.get(client.logout_url(id_token_hint=tokens["id_token"]))
    page = await foreign.open(asked.location)

    assert page.name == "logout-confirm"
    assert (await everything(server.store))["sessions"] == before["sessions"]
    assert await is_signed_in(visitor, client)
    assert await is_signed_in(foreign, client)
    assert (await client.userinfo(visitor, other["access_token"])).status == 200
    assert (await client.userinfo(visitor, tokens["access_token"])).status == 200


@pytest.mark.promise("security: logout")
async def test_of_several_people_of_a_browser_a_hint_signs_out_the_one_it_names(
    server, visitor, client, tokens
):
    await client.tokens(visitor, *await server.copy_user("otto"), prompt="select_account")
    page = await visitor.get(client.logout_url(id_token_hint=tokens["id_token"]))
    left = [one async for one in server.store.scan(SESSIONS) if one.ended_at is None]

    assert page.headers["Location"] == BYE
    assert len(left) == 1
    assert left[0].user_id != forged.part(tokens["id_token"], 1)["sub"]


async def test_a_cross_site_post_of_another_browser_ends_nothing(
    server, visitor, client, tokens, new_visitor
):
    form = {"id_token_hint": tokens["id_token"], "post_logout_redirect_uri": BYE}
    headers = {"Origin": "https://client.example", "Sec-Fetch-Site": "cross-site"}
    elsewhere = new_visitor()
    await client.tokens(elsewhere, *await server.copy_user("otto"))
    page = await elsewhere.get((await elsewhere.post(PATH, form, headers=headers)).location)

    assert page.name == "logout-confirm"
    assert await is_signed_in(visitor, client)


@pytest.mark.full
@on_both_stores
async def test_a_hint_without_a_session_ends_nothing(server, visitor, client, tokens):
    await visitor.get(client.logout_url(id_token_hint=tokens["id_token"]))
    fresh = (await client.refresh(visitor, tokens["refresh_token"])).json()
    before = await everything(server.store)
    page = await visitor.get(client.logout_url(id_token_hint=fresh["id_token"]))

    assert page.headers["Location"] == BYE
    assert await everything(server.store) == before


async def test_a_logout_amid_a_sign_in_ends_the_session_all_the_same(server, client, tokens):
    agent = await only(server.store, BROWSERS)
    claims = forged.part(tokens["id_token"], 1)
    request = LogoutRequest(
        id="request",
        expires_at=server.clock.now(),
        hinted_user_id=claims["sub"],
    )
    rotated = {"secret_hash": "another tab has signed in"}
    await server.store.commit(Update(BROWSERS, agent.id, set=rotated))
    ended = await end_session.end_hinted(server.service, request, agent)

    assert ended is not None
    assert ended.cookie is None
    assert (await only(server.store, SESSIONS)).ended_at is not None


# without a hint: a person confirms


ASKED = {
    "nothing": {},
    "only state": {"state": "s"},
    "client_id": {"client_id": "CLIENT"},
    "client_id and address": {"client_id": "CLIENT", "post_logout_redirect_uri": BYE},
    "a logout_hint": {"logout_hint": "demo"},
    "ui_locales": {"ui_locales": "de"},
}


@pytest.mark.promise("logout: without parameters")
@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("form", ASKED.values(), ids=ASKED.keys())
async def test_without_a_hint_nothing_ends_before_the_person_says_so(
    server, visitor, client, tokens, method, form
):
    named = {name: value.replace("CLIENT", client.client_id) for name, value in form.items()}
    page = await visitor.follow(await ask(visitor, method, named))
    still = await is_signed_in(visitor, client)
    done = await visitor.send(page, decision="logout")
    end = await visitor.follow(done)

    assert page.name == "logout-confirm"
    assert still
    assert not await is_signed_in(visitor, client)
    assert (await client.userinfo(visitor, tokens["access_token"])).status == 401
    if "post_logout_redirect_uri" in named:
        assert done.headers["Location"] == BYE
    else:
        assert end.name == "logged-out"


@pytest.mark.full
@pytest.mark.promise("logout: cookie alone", "logout: without parameters")
async def test_confirming_ends_every_session_of_this_browser_and_of_no_other(
    server, visitor, client, tokens, new_visitor
):
    other = await server.copy_user("otto")
    await client.sign_in(visitor, *other, prompt="select_account")
    elsewhere = new_visitor()
    await client.tokens(elsewhere, *server.user)
    page = await visitor.open(PATH)
    await visitor.submit(page, decision="logout")

    assert not await is_signed_in(visitor, client)
    assert await is_signed_in(elsewhere, client)


async def test_staying_ends_nothing(server, visitor, client, tokens):
    page = await visitor.open(PATH)
    stayed = await visitor.submit(page, decision="stay")

    assert stayed.status == 200
    assert await is_signed_in(visitor, client)


@pytest.mark.promise("logout: cookie alone", "logout: without parameters")
async def test_without_a_session_the_page_says_so_without_a_question(visitor):
    assert (await visitor.open(PATH)).name == "logged-out"


@pytest.mark.promise("logout: client_id")
async def test_who_is_not_signed_in_goes_on_to_the_registered_address(visitor, client):
    url = f"{PATH}?{urlencode({'client_id': client.client_id, 'post_logout_redirect_uri': BYE})}"

    assert (await visitor.follow(await visitor.get(url))).location == BYE


@pytest.mark.parametrize("theft", ["another browser", "no token", "another form's token"])
async def test_nobody_else_can_confirm(visitor, client, tokens, new_visitor, theft):
    page = await visitor.open(PATH)
    if theft == "another browser":
        await new_visitor().post(page.url, {**page.hidden, "decision": "logout"})
    elif theft == "no token":
        answer = await visitor.post(page.url, {"decision": "logout"})
        assert answer.status == 403
    else:
        other = await visitor.open(PATH)
        answer = await visitor.post(page.url, {**other.hidden, "decision": "logout"})
        assert answer.status == 403

    assert await is_signed_in(visitor, client)


# refusals: a page, no redirect, nothing ended


def refusals(client, other, demo, token: str) -> dict[str, dict]:
    hint = {"id_token_hint": token}
    address = {"post_logout_redirect_uri": BYE}
    return {
        "an address without hint and client": address,
        "hint and client_id of two clients": hint | address | {"client_id": demo.client_id},
        "hint and an unknown client_id": hint | address | {"client_id": "nobody"},
        "an unknown client": address | {"client_id": "nobody"},
        "an unknown client and no address": {"client_id": "nobody"},
        "a client_id with NUL": {"client_id": "a\0b"},
        "a client_id of 201": {"client_id": "c" * 201},
        "an inactive client": address | {"client_id": other.client_id},
        "another client's address": {
            "client_id": demo.client_id,
            "post_logout_redirect_uri": BYE,
        },
        "an address for signing in": hint | {"post_logout_redirect_uri": client.redirect_uri},
        "an address with a query": hint | {"post_logout_redirect_uri": BYE + "?a=1"},
        "a script": hint | {"post_logout_redirect_uri": "javascript:alert(1)"},
        "another host": hint | {"post_logout_redirect_uri": "https://evil.example/"},
        "state of 4097": hint | address | {"state": "s" * 4097},
        "two hints": {"id_token_hint": [token, token]},
        "two client_ids": {"client_id": [client.client_id] * 2},
        "two addresses": hint | {"post_logout_redirect_uri": [BYE, BYE]},
        "two states": hint | address | {"state": ["a", "b"]},
    }


@pytest.mark.promise(
    "client: post-logout redirect URIs",
    "logout: client_id",
    "logout: azp or client_id",
    "logout: no redirect",
)
@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_a_refused_logout_is_a_page_and_ends_nothing(
    server, visitor, client, tokens, demo, method
):
    inactive = await server.register(state="inactive", post_logout_redirect_uris=[BYE])
    before = await everything(server.store)
    for name, form in refusals(client, inactive, demo, tokens["id_token"]).items():
        query = urlencode(form, doseq=True)
        page = (
            await visitor.get(f"{PATH}?{query}")
            if method == "GET"
            else await visitor.post(PATH, content=query, headers={"Content-Type": FORM})
        )
        assert (page.status, page.name) == (400, "explain"), name
        assert "Location" not in page.headers, name
        assert "Set-Cookie" not in page.headers, name

    assert await everything(server.store) == before
    assert await is_signed_in(visitor, client)


@pytest.mark.promise("logout: no redirect")
async def test_a_hint_that_is_not_genuine_is_a_page_and_ends_nothing(
    server, visitor, client, tokens
):
    genuine = tokens["id_token"]
    published = (await visitor.get("/oauth/v2/keys")).json()["keys"][0]
    strange = JWT(header=forged.part(genuine, 0), claims=forged.part(genuine, 1))
    strange.make_signed_token(JWK.from_pyca(shared_key(3)))
    hints = forged.hostile_jwts(genuine, JWK(**published).export_to_pem())
    hints |= {
        "another key": strange.serialize(),
        "access token": tokens["access_token"],
        "refresh token": tokens["refresh_token"],
        "text": "hint",
    }
    before = await everything(server.store)
    for name, hint in hints.items():
        form = {"id_token_hint": hint, "post_logout_redirect_uri": BYE}
        page = await visitor.post(PATH, form)
        assert (page.status, page.name) == (400, "explain"), name
        assert "Location" not in page.headers, name

    assert await everything(server.store) == before


async def test_a_hint_of_a_client_that_was_deactivated_is_a_page(server, visitor, client, tokens):
    off = {"state": "inactive"}
    await server.store.commit(Update(APPLICATIONS, client.client_id, set=off))
    page = await visitor.get(client.logout_url(id_token_hint=tokens["id_token"]))

    assert (page.status, page.location) == (400, None)
