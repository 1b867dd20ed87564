"""A token that is refused costs the management API as little as any other endpoint."""

from __future__ import annotations

import pytest

from handlers.http.admission import GroupPlaces
from idp.limits import refused_tokens
from idp.limits.refused_tokens import RefusedTokens

PATH = "/management/v1/orgs/me"
WRONG = "idp_pat_" + "A" * 65


@pytest.fixture
def reads(server, monkeypatch):
    """The reads of personal access tokens."""
    seen, get_following = [], server.store.get_following

    async def noted(keys, follows):
        seen.append(keys)
        return await get_following(keys, follows)

    monkeypatch.setattr(server.store, "get_following", noted)
    return seen


@pytest.fixture
def entered(monkeypatch):
    """The groups whose places requests have taken."""
    seen, enter = [], GroupPlaces.enter

    def noted(self, *values):
        seen.append(self._group.name)
        return enter(self, *values)

    monkeypatch.setattr(GroupPlaces, "enter", noted)
    return seen


async def call(visitor, token, **options):
    return await visitor.get(PATH, headers={"Authorization": f"Bearer {token}"}, **options)


async def test_a_wrong_token_is_read_once_and_takes_no_place_of_the_api_again(
    visitor, reads, entered
):
    answers = [await call(visitor, WRONG) for _ in range(5)]

    assert {(each.status, each.json()["details"][0]["id"]) for each in answers} == {
        (401, answers[0].json()["details"][0]["id"])
    }
    assert len(reads) == 1
    assert entered == ["management", *["protocol"] * 4]


@pytest.mark.every_row
@pytest.mark.parametrize("header", [None, "Bearer", "Bearer x", "Basic x", "Bearer idp_pat_x"])
async def test_what_can_be_no_token_is_not_read_and_takes_no_place_of_the_api(
    visitor, reads, entered, header
):
    headers = {} if header is None else {"Authorization": header}
    answer = await visitor.get(PATH, headers=headers)

    assert answer.status == 401
    assert reads == []
    assert entered == ["protocol"]


async def test_a_wrong_token_is_refused_before_its_body_is_received(visitor, entered):
    await call(visitor, WRONG)
    answer = await visitor.post(
        "/management/v1/projects",
        content=b"x" * 100_000,
        headers={"Authorization": f"Bearer {WRONG}", "Content-Type": "text/plain"},
    )

    assert answer.status == 401


async def test_other_endpoints_read_a_wrong_token_once_too(visitor, reads):
    headers = {"Authorization": f"Bearer {WRONG}"}
    answers = [await visitor.get("/oidc/v1/userinfo", headers=headers) for _ in range(3)]

    assert [each.status for each in answers] == [401] * 3
    assert len(reads) == 1


async def test_a_right_token_is_accepted_among_wrong_ones_and_read_each_time(
    server, visitor, owner, reads
):
    for _ in range(2):
        await call(visitor, WRONG)
        assert (await owner.get(PATH)).status == 200


def test_a_refused_token_is_remembered_for_some_seconds(server):
    tokens, now = RefusedTokens(), server.clock.now()
    tokens.add("a", now)

    assert tokens.has("a", now)
    assert not tokens.has("b", now)
    assert not tokens.has("a", now + refused_tokens.REMEMBERED_FOR)


def test_so_many_refused_tokens_are_remembered(server, monkeypatch):
    monkeypatch.setattr(refused_tokens, "MAX_TOKENS", 2)
    tokens, now = RefusedTokens(), server.clock.now()
    for token in "abc":
        tokens.add(token, now)

    assert [tokens.has(token, now) for token in "abc"] == [False, True, True]
