"""A pushed request may be loaded again by the first browser that loaded it (RFC 9126 4, 7.3)."""

from __future__ import annotations

from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from idp.records import PUSHED_REQUESTS
from storage import Update
from tests.support.protocol.noting import FOREIGN, assert_expired, settings
from tests.support.store.stored import only

__all__ = ["settings"]


@pytest.fixture
def referred(io_loop, server, visitor):
    """The address of a request that an application has pushed."""

    async def push():
        client = await server.register("Wiki")
        form = {name: value for name, value in client.authorize_form().items() if value}
        page = await visitor.post("/oauth/v2/par", form, headers=client.basic())
        sent = {"client_id": client.client_id, "request_uri": page.json()["request_uri"]}
        return f"/oauth/v2/authorize?{urlencode(sent)}"

    return io_loop.run_sync(push)


@pytest.mark.promise("security: pushed")
async def test_the_first_browser_may_load_a_pushed_request_again_and_no_other(
    server, new_visitor, referred
):
    mine, other = new_visitor(), new_visitor()
    assert (await mine.open(referred)).name == "login-name"
    refused = await other.open(referred)
    server.clock.advance(3000)  # long after the 60 s for which it stands
    again = await mine.open(referred)
    done = await mine.submit(
        await mine.submit(again, loginName=server.user[0]), password=server.user[1]
    )

    assert_expired(refused)
    assert "Set-Cookie" not in refused.headers
    assert "code" in done.answer


async def test_a_pushed_request_s_sign_in_ends_when_it_would_have_by_the_first_loading(
    server, visitor, referred
):
    first = await visitor.open(referred)
    server.clock.advance(3000)
    again = await visitor.open(referred)
    server.clock.advance(600)

    assert_expired(await visitor.open(first.url))
    assert_expired(await visitor.open(again.url))
    assert (await visitor.open(referred)).name == "explain"


@pytest.mark.full
@pytest.mark.promise("security: pushed")
async def test_of_two_tabs_with_a_pushed_request_one_is_answered(server, visitor, referred):
    one, other = await visitor.open(referred), await visitor.open(referred)
    one = await visitor.submit(one, loginName=server.user[0])
    other = await visitor.submit(other, loginName=server.user[0])
    done = await visitor.submit(one, password=server.user[1])
    late = await visitor.submit(other, password=server.user[1])
    reload = await visitor.get(referred)

    assert "code" in done.answer
    assert_expired(late)
    assert "already finished" in late.text
    assert (reload.status, reload.name) == (400, "explain")


async def test_a_pushed_request_that_somebody_cancels_is_used_up(server, visitor, referred):
    page = await visitor.open(referred)
    done = await visitor.submit(page, decision="cancel")
    reload = await visitor.get(referred)

    assert done.answer["error"] == "access_denied"
    assert (reload.status, reload.name) == (400, "explain")


async def test_a_pushed_request_by_a_post_of_another_site_is_its_first_browser_s(
    server, new_visitor, referred
):
    form = dict(parse_qs(urlsplit(referred).query))
    sender, mine, other = new_visitor(), new_visitor(), new_visitor()
    sent = await sender.post("/oauth/v2/authorize", form, headers=FOREIGN)
    page = await mine.open(sent.location)

    assert page.name == "login-name"
    assert_expired(await other.open(sent.location))
    assert_expired(await other.open(referred))
    assert (await mine.open(referred)).name == "login-name"


@pytest.mark.promise("security: pushed")
async def test_a_pushed_request_is_claimed_by_one_update(server, new_visitor, referred):
    """Another browser was faster: after the request was read, and before it was claimed."""
    pushed = await only(server.store, PUSHED_REQUESTS)
    commit, raced = server.store.commit, []

    async def slowed(*writes):
        if not raced:
            raced.append(True)
            taken = {"agent_id": "somebody else"}
            await commit(Update(PUSHED_REQUESTS, pushed.id, set=taken))
        return await commit(*writes)

    type(server.store).commit, original = (
        (lambda self, *writes: slowed(*writes)),
        type(server.store).commit,
    )
    try:
        page = await new_visitor().open(referred)
    finally:
        type(server.store).commit = original

    assert_expired(page)
