"""The store loses its answer after it has done the work: nobody meets their own deed."""

from __future__ import annotations

import pytest

from storage import Unavailable, Unit, Unknown


@pytest.fixture
def losing(server, monkeypatch):
    """Called, it loses the answers to all later units; each second question after one is heard."""
    commit, asked = server.store.commit, []

    async def lose(*writes):
        await commit(*writes)
        raise Unknown(Unit("lost", writes))

    async def applied(unit):
        asked.append(unit)
        if len(asked) % 2:
            raise Unavailable("still electing")
        return True

    def begin():
        monkeypatch.setattr(server.store, "commit", lose)
        monkeypatch.setattr(server.store, "applied", applied)

    return begin


async def test_a_redemption_gives_its_tokens(losing, server, demo, visitor):
    page = await visitor.sign_in(demo.authorize_url(), *server.user)
    losing()
    answer = await demo.redeem(visitor, page.answer["code"])

    assert answer.status == 200
    assert (await demo.userinfo(visitor, answer.json()["access_token"])).status == 200


async def test_a_refresh_gives_its_tokens(losing, server, demo, visitor):
    tokens = await demo.tokens(visitor, *server.user)
    losing()
    answer = await demo.refresh(visitor, tokens["refresh_token"])

    assert answer.status == 200
    assert (await demo.refresh(visitor, answer.json()["refresh_token"])).status == 200


async def test_a_sign_in_reaches_its_end(losing, server, demo, visitor):
    page = await visitor.open(demo.authorize_url())
    page = await visitor.submit(page, loginName=server.user[0])
    losing()
    page = await visitor.submit(page, password=server.user[1])

    assert "code" in page.answer
