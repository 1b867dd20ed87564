"""Where somebody is signed in, as they see it, and how they end it."""

import asyncio

import pytest

from idp.identity.sessions import user_agents
from idp.records import BROWSERS, SESSIONS
from tests.support.sign_in import account
from tests.support.sign_in.steps import text_of
from tests.support.store import stored

FIREFOX = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:132.0) Gecko/20100101 Firefox/132.0"
SAFARI = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15"
    " (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1"
)
EDGE = (
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko)"
    " Chrome/130.0.0.0 Safari/537.36 Edg/130.0.0.0"
)
CHROME = (
    "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko)"
    " Chrome/130.0.0.0 Mobile Safari/537.36"
)


@pytest.fixture
def phone(io_loop, server, new_visitor):
    """Dana is signed in with a browser on Windows, and then with this phone."""

    async def sign_in():
        await account.enter(server, new_visitor(headers={"User-Agent": FIREFOX}))
        server.clock.advance(60)
        await account.enter(server, found)

    found = new_visitor(headers={"User-Agent": SAFARI})
    io_loop.run_sync(sign_in)
    return found


async def seen(phone):
    return await phone.open("/ui/account/sessions")


def buttons(page):
    return [value for name, value in page.buttons if name == "session"]


async def lasting(server):
    return {one.id async for one in server.store.scan(SESSIONS) if one.ended_at is None}


async def test_each_session_is_listed_with_its_browser_and_last_use(phone):
    page = await seen(phone)

    text = text_of(page)
    assert "Safari on iOS" in text
    assert "Firefox on Windows" in text
    assert text.index("This browser") < text.index("Firefox on Windows")
    assert "Signed in: " in text
    assert "127.0.0.1" not in text
    assert len(buttons(page)) == 1


@pytest.mark.full
async def test_another_session_ends_with_its_tokens(server, demo, new_visitor, phone):
    other = new_visitor()
    tokens = await demo.tokens(other, *server.user)
    for wanted in buttons(await seen(phone)):
        page = await phone.submit(await seen(phone), session=wanted)
        assert "Ended." in text_of(page)

    assert (buttons(page), len(await lasting(server))) == ([], 1)
    assert (await demo.silently(other))["error"] == "login_required"
    assert (await demo.userinfo(other, tokens["access_token"])).status == 401


@pytest.mark.full
async def test_all_others_end_at_once_and_this_one_stays(server, demo, new_visitor, phone):
    other = new_visitor()
    await demo.tokens(other, *server.user)
    page = await seen(phone)
    assert ("decision", "others") in page.buttons

    page = await phone.submit(page, decision="others")

    assert buttons(page) == []
    assert (await demo.silently(other))["error"] == "login_required"
    assert (await seen(phone)).status == 200
    user = await account.user(server)
    ended = await account.events_of(server, "session.ended")
    assert {one.actor for one in ended} == {user.id}
    assert len(ended) == 2


@pytest.mark.full
async def test_a_session_that_is_renewed_at_that_moment_ends_too(server, new_visitor, phone):
    pc = new_visitor()
    await account.enter(server, pc)
    server.clock.advance(700)
    asked = await pc.open("/ui/account/email")
    page = await seen(phone)

    await asyncio.gather(
        pc.send(asked, password=server.user[1]), phone.send(page, decision="others")
    )

    mine = [one for one in await lasting(server)]
    assert len(mine) in (1, 2)  # whoever came last: a new session, or none
    await phone.submit(page, decision="others")
    assert len(await lasting(server)) == 1


async def test_twins_end_a_session_once(server, phone):
    page = await seen(phone)
    (wanted,) = buttons(page)

    answers = await asyncio.gather(*[phone.send(page, session=wanted) for _ in range(3)])

    assert sorted(answer.status for answer in answers) == [303, 404, 404]
    assert len(await account.events_of(server, "session.ended")) == 1
    gone = next(answer for answer in answers if answer.status == 404)
    assert gone.name == "account/message"


@pytest.mark.full
async def test_nobody_ends_anothers_session(server, new_visitor, phone):
    stranger = new_visitor()
    await server.copy_user("minnie")
    await account.enter(server, stranger, "/sessions", ("minnie", server.user[1]))
    theirs = await stranger.open("/ui/account/sessions")
    (wanted,) = buttons(await seen(phone))
    before = await stored.everything(server.store)

    refused = await stranger.submit(theirs, session=wanted)

    assert (refused.status, refused.name) == (404, "account/message")
    assert await stored.everything(server.store) == before


@pytest.mark.parametrize("wanted", ["", "unknown", "\0", "x" * 300, "../", "<svg>"])
async def test_a_session_that_is_not_there_is_not_ended(server, phone, wanted):
    page = await seen(phone)
    before = await stored.everything(server.store)

    refused = await phone.submit(page, session=wanted)

    assert refused.status == 404
    assert await stored.everything(server.store) == before


@pytest.mark.parametrize(
    ("header", "browser", "system"),
    [
        (FIREFOX, "Firefox", "Windows"),
        (SAFARI, "Safari", "iOS"),
        (EDGE, "Edge", "macOS"),
        (CHROME, "Chrome", "Android"),
        ("curl/8.0", None, None),
        ("Linux", None, "Linux"),
        (None, None, None),
        ("<svg onload=alert(1)>", None, None),
        ("x" * 2000 + "Firefox/1", None, None),
    ],
)
def test_a_browser_is_called_by_known_words_only(header, browser, system):
    assert user_agents.read(header) == user_agents.BrowserKind(browser, system)


async def test_nothing_of_the_header_is_stored(server, new_visitor):
    await account.enter(server, new_visitor(headers={"User-Agent": FIREFOX + " <svg> whatsit"}))

    (agent,) = [one async for one in server.store.scan(BROWSERS)]
    assert (agent.browser, agent.system) == ("Firefox", "Windows")
    assert "whatsit" not in str(await stored.everything(server.store))
