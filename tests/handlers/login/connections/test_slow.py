"""A provider that does not answer: whoever waits for it waits alone, and not for long."""

from __future__ import annotations

import asyncio

import pytest

from idp.records import SESSIONS
from idp.records.refusals import REFUSALS
from idp.upstream.oidc import answers
from tests.support.patience import until
from tests.support.sign_in.federating import AT_ONCE, NAMES

WAITING = 4
PATHS = ["/.well-known/openid-configuration", "/token", "/keys", "/userinfo"]


@pytest.fixture
def hold(provider):
    """Let the provider answer at a path no more; at the end it answers again."""

    def begin(path):
        return provider.held.setdefault(path, asyncio.Event())

    yield begin
    for event in provider.held.values():
        event.set()


@pytest.mark.full
@pytest.mark.promise("connections: refused")
@pytest.mark.parametrize("path", PATHS[1:])
async def test_an_answer_that_does_not_come_ends_the_attempt(
    server, federation, provider, hold, monkeypatch, path
):
    monkeypatch.setattr(answers, "_SECONDS", 0.3)
    await federation.change(AT_ONCE)
    provider.claims = NAMES
    left = await federation.leave(await federation.begin())
    hold(path)

    page = await federation.come_back(left)

    assert (page.name, "did not work" in page.text) == ("login-name", True), page.text
    (refusal,) = (await server.store.find(REFUSALS)).records
    assert refusal.checks[-1].name == "provider_reached", refusal.sentence
    assert await server.store.count(SESSIONS) == 0


@pytest.mark.parametrize("path", PATHS[1:])
async def test_others_are_served_while_many_wait_for_a_provider(
    server, federation, provider, hold, new_visitor, path
):
    """None of those who wait keeps others from signing in."""
    await federation.change(AT_ONCE)
    provider.claims = NAMES
    waiting = []
    for n in range(WAITING):
        visitor = new_visitor()
        left = await federation.leave(await federation.begin(visitor), visitor)
        address = provider.answer_at(left, code=f"code-{n}")
        provider.nonces[f"code-{n}"] = provider.authorization["nonce"]
        waiting.append((visitor, address))
    released = hold(path)
    tasks = [asyncio.create_task(visitor.open(address)) for visitor, address in waiting]
    await until(lambda: path in [called for called, *_ in provider.calls])

    other = new_visitor()
    tokens = await federation.party.tokens(other, *server.user)

    assert (await federation.party.userinfo(other, tokens["access_token"])).status == 200
    released.set()
    pages = await asyncio.gather(*tasks)
    assert all("code" in page.answer or page.name == "login-name" for page in pages)
