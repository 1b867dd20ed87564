"""Sign-ins that are notes: nothing is stored before somebody sends a form."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest

from idp.oauth.endpoints import sealed_requests
from idp.records import AUTH_REQUESTS, BROWSERS
from tests.support.protocol.noting import FOREIGN, assert_expired, at, flow_of, read_note, settings
from tests.support.store.stored import count, everything, only

__all__ = ["settings"]


@pytest.mark.promise("security: anonymous")
async def test_an_authorization_request_stores_nothing(server, visitor, demo):
    before = await everything(server.store)
    page = await visitor.open(demo.authorize_url())

    assert page.name == "login-name"
    assert sealed_requests.is_sealed(flow_of(page))
    assert len(flow_of(page)) <= 3000
    assert await everything(server.store) == before


@pytest.mark.promise("security: anonymous")
@pytest.mark.parametrize("path", ["/ui/account", "/ui/console", "/ui/reset"])
async def test_the_pages_of_the_service_store_nothing_for_who_is_not_signed_in(
    server, visitor, path
):
    before = await everything(server.store)
    page = await visitor.open(path)

    assert page.name in ("login-name", "reset")
    assert await everything(server.store) == before


async def test_looking_at_every_page_stores_nothing(server, visitor, demo):
    before = await everything(server.store)
    page = await visitor.open(demo.authorize_url())
    flow = flow_of(page)
    for name in ("name", "password", "reset", "register", "accounts", "passkey", "reset-code"):
        shown = await visitor.open(at(flow, f"/ui/login/{name}"))
        assert shown.status == 200
    german = await visitor.open(at(flow, lang="de"))

    assert german.headers["Content-Language"] == "de"
    assert (await read_note(server, german)).language == "de"
    assert await everything(server.store) == before


@pytest.mark.promise("security: anonymous")
async def test_the_first_form_stores_the_request_with_its_step_and_no_browser(
    server, visitor, demo
):
    page = await visitor.open(demo.authorize_url())
    before = await count(server.store)
    note = await read_note(server, page)
    page = await visitor.submit(page, loginName=server.user[0])
    request = await only(server.store, AUTH_REQUESTS)

    assert page.name == "password"
    assert await count(server.store) == before | {"auth_requests": 1}
    assert (request.id, request.agent_id, request.login_name) == (
        note.id,
        note.agent_id,
        server.user[0],
    )
    assert request.ends_at == note.expires_at
    assert (request.expires_at - note.expires_at).total_seconds() == 300
    assert flow_of(page) == request.id


async def test_a_note_whose_record_exists_goes_on_there(server, visitor, demo):
    """Back, reload and a second tab: wherever the note is opened, it is the same sign-in."""
    first = await visitor.open(demo.authorize_url())
    await visitor.submit(first, loginName=server.user[0])
    again = await visitor.open(first.url)
    other_tab = await visitor.open(at(flow_of(first)))

    assert [page.name for page in (again, other_tab)] == ["password", "password"]
    back = await visitor.submit(first, loginName="somebody else")  # the form of before, once more
    assert back.name == "password"
    assert (await only(server.store, AUTH_REQUESTS)).login_name == "somebody else"


@pytest.mark.promise("security: anonymous")
async def test_two_tabs_of_one_note_are_answered_once(server, visitor, demo):
    page = await visitor.open(demo.authorize_url())
    one = await visitor.submit(page, loginName=server.user[0])
    other = await visitor.open(page.url)
    done = await visitor.submit(one, password=server.user[1])
    repeated = await visitor.submit(other, password=server.user[1])
    await demo.redeem(visitor, done.answer["code"])
    late = await visitor.submit(other, password=server.user[1])
    reload = await visitor.open(page.url)

    assert "code" in done.answer
    assert repeated.location == done.location
    for shown in (late, reload):
        assert_expired(shown)
        assert "already finished" in shown.text


async def test_two_tabs_of_a_new_browser_are_two_sign_ins(server, visitor, demo):
    one, other = [await visitor.open(demo.authorize_url()) for _ in range(2)]
    one = await visitor.submit(one, loginName=server.user[0])
    other = await visitor.submit(other, loginName=server.user[0])
    first = await visitor.submit(other, password=server.user[1])
    second = await visitor.submit(one, password=server.user[1])

    assert "code" in first.answer
    assert "code" in second.answer
    assert first.answer["code"] != second.answer["code"]
    assert len([one async for one in server.store.scan(BROWSERS)]) == 1


async def test_who_cancels_at_once_is_through_with_it(server, visitor, demo):
    page = await visitor.open(demo.authorize_url())
    done = await visitor.submit(page, decision="cancel")
    again = await visitor.open(page.url)
    server.clock.advance(60)
    late = await visitor.open(page.url)

    assert done.answer["error"] == "access_denied"
    assert again.location == done.location
    assert_expired(late)


@pytest.mark.promise("security: anonymous")
async def test_a_post_of_another_site_is_a_note_which_the_first_page_binds(
    server, new_visitor, demo
):
    before = await everything(server.store)
    visitor = new_visitor()
    form = {name: value for name, value in demo.authorize_form().items() if value is not None}
    sent = await visitor.post("/oauth/v2/authorize", form, headers=FOREIGN)
    assert "Set-Cookie" not in sent.headers
    page = await visitor.open(sent.location)
    assert page.name == "login-name"
    assert await everything(server.store) == before

    page = await visitor.submit(page, loginName=server.user[0])
    done = await visitor.submit(page, password=server.user[1])
    assert "code" in done.answer
    stranger = new_visitor()
    assert_expired(await stranger.open(sent.location))


async def test_a_silent_post_of_another_site_is_refused_without_a_record(server, visitor, demo):
    before = await everything(server.store)
    form = demo.authorize_form(prompt="none")
    form = {name: value for name, value in form.items() if value is not None}
    sent = await visitor.post("/oauth/v2/authorize", form, headers=FOREIGN)
    page = await visitor.follow(sent)

    assert page.answer["error"] == "login_required"
    assert await everything(server.store) == before


async def test_a_browser_that_never_signs_in_is_stored_as_long_as_its_request(
    server, visitor, demo
):
    """After that its cookie is as good as new: the browser can still sign in."""
    page = await visitor.open(demo.authorize_url())
    await visitor.submit(page, loginName=server.user[0])
    server.clock.advance(3000)
    later = await visitor.open(demo.authorize_url())
    server.clock.advance(901)
    assert "agents" not in await count(server.store)
    page = await visitor.submit(later, loginName=server.user[0])
    server.clock.advance(2000)
    done = await visitor.submit(page, password=server.user[1])

    assert "code" in done.answer


def long_state(demo, characters: int) -> str:
    return demo.authorize_url(state="s" * characters)


@pytest.mark.full
@pytest.mark.promise("security: limits")
async def test_a_request_that_is_too_long_for_a_note_is_stored_thirty_times_a_minute(
    server, new_visitor, demo
):
    before = await count(server.store)
    for _ in range(30):
        visitor = new_visitor()
        page = await visitor.get(long_state(demo, 4000))
        assert page.status == 303
        assert not sealed_requests.is_sealed(flow_of(page))
    stored = await count(server.store)
    refused = await visitor.get(long_state(demo, 4000))
    short = await visitor.get(demo.authorize_url())

    assert stored["auth_requests"] == before.get("auth_requests", 0) + 30
    assert (refused.status, refused.name) == (429, "error")
    assert 1 <= int(refused.headers["Retry-After"]) <= 60
    assert await count(server.store) == stored
    assert short.status == 303
    server.clock.advance(60)
    again = await visitor.get(long_state(demo, 4000))
    done = await visitor.sign_in(again.location, *server.user)
    assert done.answer["state"] == "s" * 4000


@pytest.mark.full
async def test_no_note_is_longer_than_3000_characters_whatever_is_added_to_it(
    server, new_visitor, demo
):
    """Whether it is bound later, or another language is chosen."""
    lengths = set()
    for characters in range(1500, 1800, 10):
        visitor = new_visitor()
        form = demo.authorize_form(state="s" * characters, prompt="login")
        form = {name: value for name, value in form.items() if value is not None}
        sent = await visitor.post("/oauth/v2/authorize", form, headers=FOREIGN)
        page = await visitor.open(sent.location)
        page = await visitor.open(page.url + "&lang=zh-Hans")
        assert page.headers["Content-Language"] == "zh-Hans"
        lengths.add(len(flow_of(page)))
        if not sealed_requests.is_sealed(flow_of(page)):
            break

    assert 2900 < max(lengths) <= 3000


@pytest.mark.full
async def test_the_head_of_a_redirect_to_a_page_fits_into_a_proxys_buffer(new_visitor, demo):
    """nginx reads 4,096 octets of it by default, and answers 502 for more."""
    visitor, heads = new_visitor(), []
    for characters in (1600, 1700, 1980, 2060, 4000):
        page = await visitor.get(long_state(demo, characters))
        assert page.status == 303
        head = page.headers.multi_items()
        heads.append(sum(len(name) + len(value) + 4 for name, value in head) + 32)

    assert max(heads) <= 4_096


@pytest.mark.promise("security: anonymous")
@pytest.mark.full
@pytest.mark.gen_test(timeout=600)
@pytest.mark.parametrize("requests", [300, pytest.param(10_000, marks=pytest.mark.load)])
async def test_of_ten_thousand_anonymous_requests_nothing_is_left(
    server, visitor, demo, tmp_path, requests
):
    url = demo.authorize_url(state="s" * 1500, login_hint="h" * 100)
    await visitor.get(url)
    size, rows = size_of(tmp_path), await count(server.store)
    for _ in range(requests):
        visitor.cookies.clear()
        server.clock.advance(0.05)  # as many as a network may send
        page = await visitor.get(url)
        assert sealed_requests.is_sealed(flow_of(page))

    assert await count(server.store) == rows
    assert size_of(tmp_path) - size < 100_000


def size_of(directory) -> int:
    """The bytes of a store's files; of MongoDB there are none here."""
    return sum(path.stat().st_size for path in directory.glob("db.sqlite3*"))


@pytest.mark.promise("security: anonymous")
async def test_the_end_of_a_session_without_a_hint_is_a_note_too(server, visitor, demo):
    before = await everything(server.store)
    page = await visitor.get("/oidc/v1/end_session?state=s")
    posted = await visitor.post("/oidc/v1/end_session", {"state": "s"}, headers=FOREIGN)
    for sent in (page, posted):
        assert sealed_requests.is_sealed(parse_qs(urlsplit(sent.location).query)["request"][0])
        assert (await visitor.follow(sent)).name == "logged-out"

    assert await everything(server.store) == before


async def test_a_logout_s_note_asks_and_ends_the_sessions_of_this_browser(server, visitor, demo):
    await demo.tokens(visitor, *server.user)
    page = await visitor.open("/oidc/v1/end_session")
    assert page.name == "logout-confirm"
    other_tab = await visitor.open(page.url)
    done = await visitor.submit(page, decision="logout")
    late = await visitor.submit(other_tab, decision="logout")
    server.clock.advance(3600)
    old = await visitor.open(page.url)

    assert (done.name, late.name) == ("logged-out", "logged-out")
    assert_expired(old)
    silent = await visitor.get(demo.authorize_url(prompt="none"))
    assert silent.answer["error"] == "login_required"
