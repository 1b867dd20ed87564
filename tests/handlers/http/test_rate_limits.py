"""Who guesses tokens or secrets is told to stop; whoever has the right one is never kept out."""

from __future__ import annotations

from datetime import timedelta

import pytest

from idp.records import REFUSALS
from storage import COUNTERS
from tests.support.management.callers import Caller, refused

PROJECTS = "/management/v1/projects"
TOKEN = "/oauth/v2/token"
LIMIT = 3
CREDENTIALS = {"grant_type": "client_credentials"}


@pytest.fixture
def settings():
    return {"refused_credentials_limit": LIMIT, "trusted_proxies": ("127.0.0.1",)}


async def counters(server):
    return [each.id async for each in server.store.scan(COUNTERS) if "refused:" in each.id]


async def test_too_many_wrong_tokens_of_an_address_are_429(server, visitor, owner):
    guesser = Caller(visitor, "idp_pat_wrong")
    for _ in range(LIMIT):
        refused(await guesser.post(PROJECTS, {"name": "Shop"}), 401, 16)
    page = await guesser.post(PROJECTS, {"name": "Shop"})

    assert refused(page, 429, 8) == {"": "rate_limit.exceeded"}
    assert 0 < int(page.headers["Retry-After"]) <= 600
    assert (await owner.post(PROJECTS, {"name": "Shop"})).status == 200


async def test_another_address_has_a_count_of_its_own(server, visitor):
    guesser = Caller(visitor, "idp_pat_wrong")
    for _ in range(LIMIT + 1):
        page = await guesser.post(PROJECTS, {}, X_Forwarded_For="192.0.2.1")
    refused(page, 429, 8)

    refused(await guesser.post(PROJECTS, {}, X_Forwarded_For="192.0.2.2"), 401, 16)


async def test_wrong_tokens_are_forgotten_after_ten_minutes(server, visitor):
    guesser = Caller(visitor, "idp_pat_wrong")
    for _ in range(LIMIT + 1):
        page = await guesser.post(PROJECTS, {})
    refused(page, 429, 8)
    server.clock.advance(timedelta(minutes=10))

    refused(await guesser.post(PROJECTS, {}), 401, 16)


async def test_a_call_without_a_token_and_one_that_is_let_in_are_not_counted(
    server, visitor, owner
):
    for _ in range(LIMIT + 2):
        refused(await Caller(visitor, None).post(PROJECTS, {"name": "Shop"}), 401, 16)
        assert (await owner.post(PROJECTS, {"name": "Shop"})).status == 200

    assert await counters(server) == []


@pytest.mark.promise("credentials: refused credentials")
async def test_too_many_wrong_secrets_of_a_client_are_429_and_the_right_one_still_counts(
    server, visitor
):
    app = await server.register(grant_types=["client_credentials"])
    wrong = {**CREDENTIALS, "client_id": app.client_id, "client_secret": "wrong"}
    for _ in range(LIMIT):
        page = await visitor.post(TOKEN, wrong)
        assert (page.status, page.json()["error"]) == (400, "invalid_client")
    page = await visitor.post(TOKEN, wrong)

    assert (page.status, page.json()["error"]) == (429, "invalid_client")
    assert 0 < int(page.headers["Retry-After"]) <= 600
    assert "WWW-Authenticate" not in page.headers
    assert (await app.token(visitor, CREDENTIALS)).status == 200


async def test_every_way_and_every_endpoint_counts_for_the_same_client(server, visitor):
    app = await server.register(grant_types=["client_credentials"])
    basic = {"Authorization": "Basic " + "eDp5"}
    form = {"client_id": "x", "client_secret": "wrong", "token": "t"}
    await visitor.post("/oauth/v2/introspect", form)
    await visitor.post("/oauth/v2/revoke", form)
    await visitor.post(TOKEN, CREDENTIALS, headers=basic)
    page = await visitor.post(TOKEN, CREDENTIALS | form)

    assert page.status == 429
    other = {**CREDENTIALS, "client_id": app.client_id, "client_secret": "wrong"}
    assert (await visitor.post(TOKEN, other)).status == 400


async def test_what_comes_after_too_many_is_not_stored(server, visitor):
    form = {**CREDENTIALS, "client_id": "x", "client_secret": "wrong"}
    for _ in range(LIMIT + 5):
        await visitor.post(TOKEN, form)

    assert len([each async for each in server.store.scan(REFUSALS)]) == LIMIT
