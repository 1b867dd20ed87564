"""Idempotency-Key: a call is carried out once, and whoever repeats it gets its answer again."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from functools import partial
from types import SimpleNamespace

import pytest

from idp.changes import Change, Part, committing
from idp.changes.repeatable_calls import Repeatable, commit_once
from idp.foundation.errors import Busy
from idp.records import DEFERRED_WORK, FAILURE_STREAKS, MADE_CALLS, PROJECTS, FailureStreak
from storage import Delete, Insert, Unavailable, Unknown, Update
from tests.support.management.callers import instance_owner, new_caller, new_organization, refused
from tests.support.store.both_stores import settings  # noqa: F401 - a fixture
from tests.support.store.stored import everything, only

PROJECT = "/management/v1/projects"
MACHINES = "/management/v1/users/machine"
KEY = {"Idempotency_Key": "k-1"}
REPLAYED = "Idempotency-Replayed"


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


async def test_an_answer_is_stored_sealed(server, owner):
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


@pytest.mark.promise("faults: Idempotency-Key")
async def test_the_answer_is_stored_in_the_unit_of_the_deed(server, owner, monkeypatch):
    commit, units = type(server.store).commit, []

    async def noting(store, *writes):
        units.append([write.collection.name for write in writes])
        return await commit(store, *writes)

    monkeypatch.setattr(type(server.store), "commit", noting)
    page = await owner.post(PROJECT, {"name": "Shop"}, **KEY)

    assert page.status == 200
    (unit,) = (unit for unit in units if "made_calls" in unit)
    assert unit == ["made_calls", "projects", "events"]
    assert (await only(server.store, MADE_CALLS)).sealed_answer is not None


@pytest.mark.promise("faults: Idempotency-Key")
async def test_an_answer_with_a_secret_is_given_for_ten_minutes(server, owner):
    body = {"userName": "nightly", "name": "Nightly"}
    user = (await owner.post(MACHINES, body)).json()["userId"]
    pats = f"/management/v1/users/{user}/pats"
    made = (await owner.post(pats, {}, **KEY)).json()
    server.clock.advance(timedelta(minutes=9, seconds=59))
    again = await owner.post(pats, {}, **KEY)
    server.clock.advance(timedelta(seconds=1))
    before = await everything(server.store)
    gone = await owner.post(pats, {}, **KEY)

    assert again.json() == made
    assert refused(gone, 409, 10) == {"": "idempotency.secret_gone"}
    assert made["tokenId"] in gone.json()["message"]
    assert await everything(server.store) == before
    sealed = (await only(server.store, MADE_CALLS)).sealed_answer
    assert made["token"].encode() not in server.service.master_key.open(sealed, "made call")


@pytest.mark.promise("faults: Idempotency-Key")
async def test_a_race_within_the_call_is_answered_as_without_a_key(server, owner, monkeypatch):
    """Somebody takes the name between the look and the unit."""
    taken = {"userName": "nightly", "name": "Nightly"}
    commit, raced = type(server.store).commit, []

    async def late(store, *writes):
        if not raced and any(write.collection is MADE_CALLS for write in writes):
            raced.append(True)
            assert (await owner.post(MACHINES, taken)).status == 200
        return await commit(store, *writes)

    monkeypatch.setattr(type(server.store), "commit", late)
    page = await owner.post(MACHINES, taken, **KEY)

    assert raced
    assert refused(page, 409, 6)
    assert [one async for one in server.store.scan(MADE_CALLS)] == []


async def test_a_plan_is_made_again_after_a_concurrent_change_and_counts_once(server):
    call, plans = Repeatable("a caller", "k-1", b"a request"), []

    async def plan():
        plans.append(len(plans))
        missing = Update(FAILURE_STREAKS, "missing", set={"unknown": 1})
        return Change(
            {},
            [missing] if len(plans) == 1 else [Insert(FAILURE_STREAKS, FailureStreak(id="made"))],
        )

    first = await commit_once(server.service, call, plan)
    again = await commit_once(server.service, call, plan)

    assert (first, again, plans) == ((b"{}", False), (b"{}", True), [0, 1])
    assert await server.store.get(FAILURE_STREAKS, "made") is not None


async def test_a_call_that_was_carried_out_since_its_key_was_looked_up_gets_that_answer(server):
    was_new = Repeatable("a caller", "k-1", b"a request", was_new=True)

    async def plan(id):
        return Change({"id": id}, [Insert(FAILURE_STREAKS, FailureStreak(id=id))])

    ends = [await commit_once(server.service, was_new, partial(plan, id)) for id in ("a", "b")]

    assert ends == [(b'{"id":"a"}', False), (b'{"id":"a"}', True)]
    assert [one.id async for one in server.store.scan(FAILURE_STREAKS)] == ["a"]


async def test_a_plan_that_fails_every_time_is_busy_and_stores_nothing(server):
    call, plans = Repeatable("a caller", "k-1", b"a request"), []

    async def plan():
        plans.append(None)
        return Change({}, [Update(FAILURE_STREAKS, "missing", set={"unknown": 1})])

    with pytest.raises(Busy):
        await commit_once(server.service, call, plan)

    assert len(plans) == committing.ATTEMPTS
    assert [one async for one in server.store.scan(MADE_CALLS)] == []


async def test_parts_are_stored_before_the_change_and_without_its_answer(server):
    call, parts = Repeatable("a caller", "k-1", b"a request"), ["a", "b"]

    async def plan():
        if parts:
            return Part([Insert(FAILURE_STREAKS, FailureStreak(id=parts.pop()))])
        assert [one async for one in server.store.scan(MADE_CALLS)] == []
        return Change({"id": "x"}, [Insert(FAILURE_STREAKS, FailureStreak(id="last"))])

    assert await commit_once(server.service, call, plan) == (b'{"id":"x"}', False)
    assert {one.id async for one in server.store.scan(FAILURE_STREAKS)} == {"a", "b", "last"}
    assert (await only(server.store, MADE_CALLS)).made_id == "x"


async def test_work_that_fails_after_its_first_unit_is_not_answered_as_a_repetition(server):
    call = Repeatable("a caller", "k-1", b"a request")

    async def fail():
        raise Busy("try again", retry_after_seconds=1)

    async def plan():
        return Change({}, [Insert(FAILURE_STREAKS, FailureStreak(id="made"))], then=fail)

    with pytest.raises(Busy):
        await commit_once(server.service, call, plan)

    assert await commit_once(server.service, call, plan) == (b"{}", True)


async def test_what_follows_a_deed_follows_its_unit(server, owner):
    id = (await owner.post(PROJECT, {"name": "Shop"})).json()["id"]
    app = {"name": "Web", "redirectUris": ["https://shop.example/cb"]}
    assert (await owner.post(f"{PROJECT}/{id}/apps/oidc", app)).status == 200
    gone = await owner.request("DELETE", f"{PROJECT}/{id}", None, **KEY)
    again = await owner.request("DELETE", f"{PROJECT}/{id}", None, **KEY)

    assert (gone.status, again.status, again.text) == (200, 200, gone.text)
    left = [one async for one in server.store.scan(DEFERRED_WORK)]
    assert [one for one in left if one.owner_id == id] == []


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


@pytest.mark.promise("faults: majority")
async def test_a_repeated_call_is_not_answered_by_a_record_that_no_majority_has(
    server, owner, monkeypatch
):
    owner.visitor.may_fail = True
    first = await owner.post(PROJECT, {"name": "Shop"}, **KEY)

    async def unconfirmed(*_):
        raise Unavailable("there is no majority")

    with monkeypatch.context() as patch:
        patch.setattr(server.store, "get_confirmed", unconfirmed)
        page = await owner.post(PROJECT, {"name": "Shop"}, **KEY)

    assert (page.status, "Retry-After" in page.headers) == (503, True)
    again = await owner.post(PROJECT, {"name": "Shop"}, **KEY)
    assert again.text == first.text


async def test_a_call_whose_record_was_rolled_back_is_carried_out(server, owner, monkeypatch):
    await owner.post(PROJECT, {"name": "Shop"}, **KEY)

    async def rolled_back(collection, id):
        monkeypatch.undo()
        for record in [one async for one in server.store.scan(collection)]:
            await server.store.commit(Delete(collection, record.id))

    monkeypatch.setattr(server.store, "get_confirmed", rolled_back)
    again = await owner.post(PROJECT, {"name": "Shop"}, **KEY)

    assert (again.status, REPLAYED in again.headers) == (200, False)
    assert await projects(server) == ["Shop", "Shop"]
