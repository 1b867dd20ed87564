"""Logging out by the server of an application, which sends no cookie of a browser."""

from __future__ import annotations

import pytest

from idp.oauth.endpoints import end_session
from idp.records import SESSIONS, LogoutRequest
from tests.handlers.protocol.test_end_session import BYE, ask, is_signed_in
from tests.support.attacks import forged
from tests.support.store.stored import everything


@pytest.fixture
def client(io_loop, server):
    """An application with one address for after the logout."""
    return io_loop.run_sync(lambda: server.register(post_logout_redirect_uris=[BYE]))


@pytest.fixture
def tokens(io_loop, server, visitor, client) -> dict:
    """The demo user, signed in to that application."""
    return io_loop.run_sync(lambda: client.tokens(visitor, *server.user))


@pytest.mark.promise("security: logout", "logout: id_token_hint")
@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("hours", [0, 33], ids=["a valid hint", "an expired hint"])
async def test_without_a_cookie_a_hint_ends_the_session_that_it_names_and_no_other(
    server, visitor, client, tokens, new_visitor, method, hours
):
    second = new_visitor()
    other = await client.tokens(second, *server.user)
    for _ in range(hours // 11):
        server.clock.advance(11 * 3600)
        assert await is_signed_in(visitor, client)
        assert await is_signed_in(second, client)
    answer = await ask(new_visitor(), method, {"id_token_hint": tokens["id_token"]})

    assert answer.status == 303
    assert "Set-Cookie" not in answer.headers
    assert not await is_signed_in(visitor, client)
    assert await is_signed_in(second, client)
    ended = [one.id async for one in server.store.scan(SESSIONS) if one.ended_at]
    assert ended == [forged.part(tokens["id_token"], 1)["sid"]]
    assert forged.part(other["id_token"], 1)["sid"] not in ended


async def test_without_a_cookie_a_hint_of_an_ended_session_changes_nothing(
    server, visitor, client, tokens, new_visitor
):
    url = client.logout_url(id_token_hint=tokens["id_token"])
    await new_visitor().get(url)
    await client.tokens(visitor, *server.user)
    before = await everything(server.store)
    page = await new_visitor().get(url)

    assert page.headers["Location"] == BYE
    assert await everything(server.store) == before


@pytest.mark.parametrize("user", ["another user", None])
async def test_without_a_cookie_a_hint_ends_no_session_of_another_user(
    server, client, tokens, user
):
    """A token of an exchange names the user whom its session does not belong to."""
    request = LogoutRequest(
        id="request",
        expires_at=server.clock.now(),
        hinted_user_id=user,
        hinted_session_id=forged.part(tokens["id_token"], 1)["sid"],
    )
    before = await everything(server.store)
    ended = await end_session.end_hinted(server.service, request, None)

    assert ended == end_session.CompletedLogout(request)
    assert await everything(server.store) == before


async def test_without_a_cookie_nothing_but_a_hint_ends_a_session(
    server, visitor, client, tokens, new_visitor
):
    before = await everything(server.store)
    for form in [{}, {"client_id": client.client_id}, {"logout_hint": server.user[0]}]:
        assert (await ask(new_visitor(), "GET", form)).status == 303

    assert await everything(server.store) == before
    assert await is_signed_in(visitor, client)
