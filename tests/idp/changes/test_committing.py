"""Planned changes: what a planner returns, and how it is committed."""

from __future__ import annotations

from contextlib import asynccontextmanager

import pytest

from idp import changes
from idp.changes import Change
from idp.foundation.errors import Busy, FieldProblem, NotFound, PreconditionFailed, Taken
from idp.management import call as management_call
from idp.management.users import states
from idp.records import EVENTS, FAILURE_STREAKS, ORGANIZATIONS, USERS, FailureStreak, Profile, User
from storage import Insert, Update
from tests.support.store.stored import everything


@pytest.fixture
def service(server):
    return server.service


@pytest.fixture
def person(server, io_loop):
    return io_loop.run_sync(lambda: new_user(server))


async def new_user(server):
    organizations = [each async for each in server.store.scan(ORGANIZATIONS)]
    now, profile = server.clock.now(), Profile(display_name="Ada")
    user = User(
        id="ada",
        org_id=organizations[0].id,
        kind="human",
        user_name="ada",
        login_key="ada@acme.example",
        stamp="first",
        profile=profile,
        created_at=now,
        changed_at=now,
    )
    await server.store.commit(Insert(USERS, user))
    return user


def streak(id="made"):
    return Insert(FAILURE_STREAKS, FailureStreak(id=id))


async def test_a_planner_returns_the_record_s_update_with_its_event_and_stores_nothing(
    server, person
):
    before = await everything(server.store)
    call = management_call.of_themselves(person)
    change = await states.change(server.service, call, person.id, "lock")

    assert [write.collection for write in change.writes][:2] == [USERS, EVENTS]
    assert change.answer.details.sequence == str(person.sequence + 1)
    assert await everything(server.store) == before


async def test_nothing_is_written_of_a_record_that_has_the_values_already(service, person):
    values = {"state": person.state}
    update = changes.updated(service, changes.by("me"), USERS, person, values, "user.changed")
    change = update.change(streak(), afterwards=[pytest.fail])

    assert (change.writes, change.afterwards) == ((), ())
    assert change.answer.details.sequence == str(person.sequence)


@pytest.mark.parametrize("make", [changes.updated, changes.removed])
async def test_a_change_of_another_version_than_the_author_expects_is_refused(
    service, person, make
):
    call = management_call.of_themselves(person, if_match=person.sequence + 1)
    values = [{"state": "locked"}] if make is changes.updated else []

    with pytest.raises(PreconditionFailed):
        make(service, call, USERS, person, *values, "user.changed")


async def test_what_follows_a_change_is_done_once_it_is_stored(service):
    found = []

    async def look():
        found.append(await service.store.get(FAILURE_STREAKS, "made"))

    async def plan():
        return Change("done", [streak()], [look, lambda: found.append("more")])

    assert await changes.commit(service, plan) == "done"
    assert [found[0].id, found[1]] == ["made", "more"]


async def test_what_was_taken_meanwhile_is_the_error_that_the_change_names(service):
    await service.store.commit(streak())

    taken = Taken([FieldProblem("group.name_taken", "name", "is taken")])
    for if_taken in (taken, lambda conflict: taken):

        async def plan(if_taken=if_taken):
            return Change(None, [streak()], [pytest.fail], if_taken)

        with pytest.raises(Taken):
            await changes.commit(service, plan)


async def test_a_change_without_that_error_is_planned_again(service):
    await service.store.commit(streak())
    ids = ["made", "other"]

    async def plan():
        return Change(ids[0], [streak(ids.pop(0))])

    assert await changes.commit(service, plan) == "other"


async def test_what_need_not_be_repeated_is_left_out_of_the_second_plan(service):
    made = []

    async def again():
        return Change("again", [streak()])

    async def plan():
        made.append("hash")
        return Change("first", [Update(FAILURE_STREAKS, "gone", set={"unknown": 1})], replan=again)

    assert await changes.commit(service, plan) == "again"
    assert made == ["hash"]


async def test_a_limit_sees_each_unit_and_refuses_it(service):
    seen = []

    @asynccontextmanager
    async def limit(writes):
        seen.append([write.id for write in writes])
        yield
        raise Busy("too many", retry_after_seconds=1)

    async def plan():
        return Change(None, [streak()], [pytest.fail])

    with pytest.raises(Busy):
        await changes.commit(service, plan, limit)
    assert seen == [["made"]]


@pytest.mark.promise("faults: majority")
async def test_a_refusal_and_a_change_that_was_made_before_are_confirmed(service, monkeypatch):
    confirmed = []

    async def confirm(point):
        confirmed.append(point)

    monkeypatch.setattr(service.store, "confirm", confirm)

    async def refuse():
        raise NotFound("it is gone")

    async def find_done():
        return Change("done")

    with pytest.raises(NotFound):
        await changes.commit(service, refuse)
    assert await changes.commit(service, find_done) == "done"
    assert len(confirmed) == 2
