"""Idempotency-Key: a call is carried out once, and whoever repeats it gets its answer again."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from types import SimpleNamespace

import pytest

from idp import repeating
from idp.records import MADE_CALLS, PROJECTS
from storage import Unavailable, Unknown, Update
from tests.support.callers import instance_owner, new_caller, new_organization, refused
from tests.support.stored import everything, only

PROJECT = "/management/v1/projects"
MACHINES = "/management/v1/users/machine"
KEY = {"Idempotency_Key": "k-1"}
REPLAYED = "Idempotency-Replayed"


@pytest.fixture
def owner(io_loop, server, visitor):
    return io_loop.run_sync(lambda: instance_owner(server, visitor))


async def projects(server):
    return [record.name async for record in server.store.scan(PROJECTS) if record.name == "Shop"]


async def test_a_repeated_call_is_done_once_and_answered_alike(server, owner):
    first = await owner.post(PROJECT, {"name": "Shop"}, **KEY)
    before = await everything(server.store)
    again = await owner.post(PROJECT, {"name": "Shop"}, **KEY)

    assert (first.status, REPLAYED in first.headers) == (200, False)
    assert (again.status, again.headers[REPLAYED]) == (200, "true")
    assert again.text == first.text
    assert again.headers["ETag"] == first.headers["ETag"]
    assert await projects(server) == ["Shop"]
    assert await everything(server.store) == before


@pytest.mark.parametrize(
    ("path", "body", "headers"),
    [
        (PROJECT, {"name": "Other"}, {}),
        (MACHINES, {"userName": "nightly", "name": "Shop"}, {}),
        (f"{PROJECT}?a=b", {"name": "Shop"}, {}),
    ],
)
async def test_a_key_that_was_used_for_another_request_is_409(server, owner, path, body, headers):
    await owner.post(PROJECT, {"name": "Shop"}, **KEY)
    before = await everything(server.store)
    page = await owner.post(path, body, **KEY, **headers)

    assert refused(page, 409, 6) == {"": "idempotency.other_request"}
    assert await everything(server.store) == before


async def test_the_organization_that_is_named_is_part_of_the_request(server, owner):
    other = await new_organization(server, "other.example")
    await owner.post(PROJECT, {"name": "Shop"}, **KEY)
    page = await owner.post(PROJECT, {"name": "Shop"}, **KEY, x_idp_orgid=other.id)

    assert refused(page, 409, 6) == {"": "idempotency.other_request"}


async def test_a_refused_call_is_not_remembered(server, owner):
    page = await owner.post(PROJECT, {"name": ""}, **KEY)
    assert refused(page, 400, 3) == {"name": "field.empty"}
    assert [one async for one in server.store.scan(MADE_CALLS)] == []

    page = await owner.post(PROJECT, {"name": "Shop"}, **KEY)
    assert (page.status, REPLAYED in page.headers) == (200, False)


async def test_the_keys_of_two_callers_have_nothing_to_do_with_each_other(server, visitor, owner):
    own = await new_organization(server, "own.example")
    other = await new_caller(server, visitor, own, "ORG_OWNER")
    first = await owner.post(PROJECT, {"name": "Shop"}, **KEY)
    second = await other.post(PROJECT, {"name": "Shop"}, **KEY)

    assert REPLAYED not in second.headers
    assert second.json()["id"] != first.json()["id"]


async def test_a_key_is_forgotten_after_a_day(server, owner, visitor):
    await owner.post(PROJECT, {"name": "Shop"}, **KEY)
    server.clock.advance(timedelta(days=1))
    later = await instance_owner(server, visitor)
    page = await later.post(PROJECT, {"name": "Shop"}, **KEY)

    assert REPLAYED not in page.headers
    assert await projects(server) == ["Shop", "Shop"]


async def test_an_answer_is_kept_sealed(server, owner):
    body = {"userName": "nightly", "name": "Nightly"}
    user = (await owner.post(MACHINES, body)).json()["userId"]
    made = await owner.post(f"/management/v1/users/{user}/pats", {}, **KEY)
    again = await owner.post(f"/management/v1/users/{user}/pats", {}, **KEY)
    kept = await only(server.store, MADE_CALLS)

    assert again.json()["token"] == made.json()["token"]
    assert made.json()["token"] not in str(kept.sealed_answer)
    assert "k-1" not in repr(kept)


@pytest.mark.parametrize("key", ["", "x" * 201, "a\tb", "ä"])
async def test_a_key_that_is_none_is_400(server, owner, key):
    before = await everything(server.store)
    page = await owner.post(PROJECT, {"name": "Shop"}, Idempotency_Key=key.encode())

    assert refused(page, 400, 3) == {"Idempotency-Key": "idempotency.key"}
    assert await everything(server.store) == before


async def test_a_key_of_two_hundred_characters_is_taken(owner):
    page = await owner.post(PROJECT, {"name": "Shop"}, Idempotency_Key="x" * 200)

    assert page.status == 200


async def test_twins_at_once_make_one_thing_and_get_one_answer(server, owner):
    pages = await asyncio.gather(
        *(owner.post(PROJECT, {"name": "Shop"}, **KEY) for _ in range(16))
    )

    assert {page.status for page in pages} == {200}
    assert len({page.text for page in pages}) == 1
    assert sum(REPLAYED not in page.headers for page in pages) == 1
    assert await projects(server) == ["Shop"]


async def test_a_call_whose_answer_was_lost_is_not_made_again(server, owner, monkeypatch):
    monkeypatch.setattr(repeating, "_WAITS_SECONDS", 0)
    await owner.post(PROJECT, {"name": "Shop"}, **KEY)
    made = await only(server.store, MADE_CALLS)
    await server.store.commit(Update(MADE_CALLS, made.id, set={"sealed_answer": None}))
    page = await owner.post(PROJECT, {"name": "Shop"}, **KEY)

    assert refused(page, 409, 10) == {"": "idempotency.repeated"}
    assert await projects(server) == ["Shop"]


async def test_an_answer_that_can_not_be_kept_is_given_all_the_same(server, owner, monkeypatch):
    monkeypatch.setattr(repeating, "_WAITS_SECONDS", 0)
    commit = type(server.store).commit

    async def failing(store, *writes):
        if any(isinstance(one, Update) and one.collection is MADE_CALLS for one in writes):
            raise Unavailable("gone")
        return await commit(store, *writes)

    monkeypatch.setattr(type(server.store), "commit", failing)
    page = await owner.post(PROJECT, {"name": "Shop"}, **KEY)

    assert page.status == 200
    refused(await owner.post(PROJECT, {"name": "Shop"}, **KEY), 409, 10)


async def test_a_commit_whose_answer_was_lost_counts_as_made(server, owner, monkeypatch):
    commit, lost = type(server.store).commit, []

    async def losing(store, *writes):
        await commit(store, *writes)
        if not lost:
            lost.append(SimpleNamespace(id="a unit"))
            raise Unknown(lost[0])

    async def applied(store, unit):
        return unit is lost[0]

    monkeypatch.setattr(type(server.store), "commit", losing)
    monkeypatch.setattr(type(server.store), "applied", applied)
    first = await owner.post(PROJECT, {"name": "Shop"}, **KEY)
    again = await owner.post(PROJECT, {"name": "Shop"}, **KEY)

    assert lost
    assert (first.status, again.text, again.headers[REPLAYED]) == (200, first.text, "true")
    assert await projects(server) == ["Shop"]


async def test_a_key_means_nothing_for_a_get(server, owner):
    id = (await owner.post(PROJECT, {"name": "Shop"})).json()["id"]
    for _ in range(2):
        page = await owner.get(f"{PROJECT}/{id}", **KEY)
        assert (page.status, REPLAYED in page.headers) == (200, False)

    assert [one async for one in server.store.scan(MADE_CALLS)] == []
