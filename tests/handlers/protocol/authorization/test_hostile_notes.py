"""Notes and new browsers' cookies that were cut, changed, stolen or kept too long."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, quote, urlsplit

import pytest

from idp.foundation.randomness import SystemRandom
from idp.keys.master_key import MasterKey
from idp.oauth.endpoints import sealed_requests
from idp.oauth.sign_in import pending as sign_in_pending
from idp.records import AUTH_REQUESTS
from tests.support.protocol.noting import assert_expired, at, flow_of, read_note, settings
from tests.support.store.stored import everything

__all__ = ["settings"]


def spoilt(note: str) -> list[str]:
    """The note cut anywhere, with any character exchanged, and with more of them."""
    step = 7
    cut = [note[:n] for n in range(1, len(note), step)] + [note[n:] for n in range(1, 60, step)]
    flipped = [
        note[:n] + ("A" if note[n] != "A" else "B") + note[n + 1 :] for n in range(len(note))
    ]
    return [*cut, *flipped, note + "A", note * 2, note.upper(), f"{note}.{note}", note + "=" * 4]


@pytest.mark.promise("security: sealed note")
async def test_a_note_counts_in_its_own_browser_alone(server, new_visitor, demo):
    mine, theirs = new_visitor(), new_visitor()
    page = await mine.open(demo.authorize_url())
    await theirs.open(demo.authorize_url())
    before = await everything(server.store)

    assert_expired(await theirs.open(page.url))
    assert_expired(await new_visitor().open(page.url))
    sent = await theirs.post(page.url, page.hidden | {"loginName": server.user[0]})
    assert (sent.status, sent.name) == (403, "expired")
    assert await everything(server.store) == before


@pytest.mark.promise("security: sealed note")
async def test_a_note_ends_with_the_time_for_a_sign_in(server, visitor, demo):
    page = await visitor.open(demo.authorize_url())
    before = await everything(server.store)
    server.clock.advance(3599)
    assert (await visitor.open(page.url)).name == "login-name"
    server.clock.advance(1)

    assert_expired(await visitor.open(page.url))
    assert_expired(await visitor.send(page, loginName=server.user[0]))
    assert await everything(server.store) == before


async def test_an_expired_note_begins_no_second_sign_in_while_its_record_is_stored(
    server, visitor, demo
):
    page = await visitor.open(demo.authorize_url())
    waiting = await visitor.submit(page, loginName=server.user[0])
    server.clock.advance(3600)
    for shown in (page, waiting):
        assert_expired(await visitor.open(shown.url))
        assert_expired(await visitor.send(shown, loginName="x", password=server.user[1]))
    server.clock.advance(301)
    assert await server.store.get(AUTH_REQUESTS, flow_of(waiting)) is None

    assert_expired(await visitor.open(page.url))
    assert_expired(await visitor.send(page, loginName=server.user[0]))


async def test_no_spoilt_note_can_be_read(server, visitor, demo):
    page = await visitor.open(demo.authorize_url())
    kind = type(await read_note(server, page))

    assert len(spoilt(flow_of(page))) > 500
    for note in spoilt(flow_of(page)):
        assert sealed_requests.read(server.service, note, kind, sign_in_pending.PURPOSE) is None


@pytest.mark.full
@pytest.mark.promise("security: sealed note")
async def test_a_spoilt_note_is_an_expired_page_and_changes_nothing(server, visitor, demo):
    page = await visitor.open(demo.authorize_url())
    before = await everything(server.store)
    for note in spoilt(flow_of(page))[::7]:
        assert_expired(await visitor.get(at(note)))
    for note in spoilt(flow_of(page))[::20]:
        sent = await visitor.post(at(note, "/ui/login/name"), page.hidden | {"loginName": "x"})
        assert (sent.status, sent.name) == (403, "expired")

    assert await everything(server.store) == before


@pytest.mark.promise("security: sealed note")
async def test_a_huge_note_is_refused_without_being_opened(server, visitor, demo, monkeypatch):
    page = await visitor.open(demo.authorize_url())
    before = await everything(server.store)
    opened = []
    monkeypatch.setattr(MasterKey, "open", lambda *args: opened.append(args) or b"{}")
    assert_expired(await visitor.get(at("v1." + "A" * 10_000)))
    whole = await visitor.get(at("v1." + "A" * 60_000))
    sent = await visitor.post(at("v1." + "A" * 10_000), page.hidden | {"loginName": "x"})

    assert whole.status == 431
    assert sent.status == 403
    assert opened == []
    assert await everything(server.store) == before


@pytest.mark.promise("security: sealed note")
async def test_a_note_of_another_installation_or_for_another_purpose_is_no_flow(
    server, visitor, demo
):
    page = await visitor.open(demo.authorize_url())
    before = await everything(server.store)
    request = await read_note(server, page)
    plain = sealed_requests.msgspec.json.encode(request)
    service = server.service
    foreign = MasterKey(SystemRandom().token_bytes(32)).seal(plain, sign_in_pending.PURPOSE)
    for_logouts = service.master_key.seal(plain, "logout")
    empty = service.master_key.seal(b"{}", sign_in_pending.PURPOSE)
    no_json = service.master_key.seal(b"\xff\x00", sign_in_pending.PURPOSE)
    logout = await visitor.get("/oidc/v1/end_session")
    of_logout = parse_qs(urlsplit(logout.location).query)["request"][0]
    for note in (foreign, for_logouts, empty, no_json, of_logout):
        assert_expired(await visitor.get(at(note)))
    assert_expired(await visitor.get(f"/ui/logout?request={quote(flow_of(page))}"))

    assert await everything(server.store) == before


@pytest.mark.parametrize("change", ["agent", "time", "secret", "mac", "long", "old"])
async def test_the_cookie_of_a_new_browser_can_not_be_changed(server, visitor, demo, change):
    page = await visitor.open(demo.authorize_url())
    (name,), (value,) = visitor.cookies.keys(), visitor.cookies.values()
    assert re.fullmatch(r"[\w-]{65}[0-9]{10}[\w-]{43}", value)
    spoilt = {
        "agent": ("A" if value[0] != "A" else "B") + value[1:],
        "secret": value[:30] + ("A" if value[30] != "A" else "B") + value[31:],
        "time": value[:65] + "9999999999" + value[75:],
        "mac": value[:-2] + ("A" if value[-2] != "A" else "B") + value[-1],
        "long": value + "A",
        "old": value,
    }[change]
    before = await everything(server.store)
    visitor.cookies.clear()
    visitor.cookies.set(name, spoilt)
    server.clock.advance(400 * 86400 if change == "old" else 0)

    assert_expired(await visitor.get(page.url))
    assert await everything(server.store) == before


async def test_a_cookie_from_before_the_sign_in_opens_nothing_afterwards(
    server, visitor, new_visitor, demo
):
    page = await visitor.open(demo.authorize_url())
    (name,), (value,) = visitor.cookies.keys(), visitor.cookies.values()
    page = await visitor.submit(page, loginName=server.user[0])
    await visitor.submit(page, password=server.user[1])
    thief = new_visitor()
    thief.cookies.set(name, value)
    shown = await thief.open(demo.authorize_url())
    silent = await thief.get(demo.authorize_url(prompt="none"))

    assert shown.name == "login-name"
    assert silent.answer["error"] == "login_required"
