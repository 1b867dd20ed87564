"""Counts of what happens: in memory, added to the store, and removed."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from idp.background import schedule
from idp.identity.sessions import sign_ins
from idp.start import bootstrap
from idp.usage import counts, flushing
from storage import COUNTERS, Unavailable, Unit, Unknown, open_store
from tests.idp.usage.conftest import as_process, total
from tests.support.patience import until
from tests.support.store.both_stores import on_both_stores, store_as_marked  # noqa: F401

SIGN_INS = 10_000


async def stored_keys(server) -> list[str]:
    found = [one.id async for one in server.store.scan(COUNTERS)]
    return sorted(key for key in found if key.startswith("usage:"))


@on_both_stores
async def test_10_000_sign_ins_of_two_processes_add_up(server, user):
    other_store = server.store
    if not server.service.config.store.startswith("memory:"):
        clock, random = server.clock, server.service.random
        other_store = open_store(server.service.config.store, now=clock.now, new_id=random.id)
        await other_store.open([COUNTERS], None)
    pair = as_process(server.service), as_process(server.service, store=other_store)
    for number in range(SIGN_INS):
        sign_ins.count(pair[number % 2], user, ["pwd"])
        if number % 1000 == 0:
            await asyncio.gather(*(counts.flush(one) for one in pair))
    await asyncio.gather(*(counts.flush(one) for one in pair))
    if other_store is not server.store:
        await other_store.close()

    for step in ("HOUR", "DAY"):
        assert await total(server.service, "sign_in", step=step) == SIGN_INS
        assert await total(server.service, "sign_in", user.org_id, step) == SIGN_INS


async def test_nothing_is_written_before_a_flush(server):
    counts.count(server.service, "sign_in", "acme")

    assert await stored_keys(server) == []
    assert len(server.service.usage) == 4


async def test_what_names_no_organization_counts_for_the_installation_alone(server):
    counts.count(server.service, "sign_in_failed", None)
    await counts.flush(server.service)

    assert len(await stored_keys(server)) == 2
    assert await total(server.service, "sign_in_failed") == 1


@pytest.mark.parametrize("org_id", ["*", "n" * 200])
async def test_an_organization_of_any_id_has_counts_of_its_own(server, org_id):
    counts.count(server.service, "sign_in", org_id)
    counts.count(server.service, "sign_in", "acme")
    await counts.flush(server.service)

    assert await total(server.service, "sign_in", org_id) == 1
    assert await total(server.service, "sign_in") == 2


async def test_each_hour_and_each_day_of_utc_has_its_count(server):
    service, begun = server.service, server.clock.now().replace(hour=23, minute=59, second=59)
    for seconds in (0, 1, 2):
        counts.count(service, "sign_in", "acme", begun + timedelta(seconds=seconds))
    await counts.flush(service)
    found = await counts.read(
        service, "acme", ["sign_in"], "DAY", [begun, begun + timedelta(days=1)]
    )

    assert found == {"sign_in": [1, 2]}
    assert await total(service, "sign_in", "acme", "HOUR", begun) == 1


@pytest.mark.parametrize(("step", "days"), [("HOUR", 8), ("DAY", 400)])
async def test_hours_are_stored_for_8_days_and_days_for_400(server, step, days):
    begun = server.clock.now()
    counts.count(server.service, "sign_in", "acme")
    await counts.flush(server.service)
    server.clock.advance(days * 86_400 - 1)
    before = await total(server.service, "sign_in", "acme", step, begun)
    server.clock.advance(1)

    assert before == 1
    assert await total(server.service, "sign_in", "acme", step, begun) == 0


async def test_a_count_that_the_store_refuses_is_added_by_the_next_flush(server, monkeypatch):
    async def away(key, by=1, *, window):
        raise Unavailable("away")

    counts.count(server.service, "sign_in", "acme")
    with monkeypatch.context() as patch:
        patch.setattr(server.store, "increment", away)
        with pytest.raises(Unavailable):
            await counts.flush(server.service)
    counts.count(server.service, "sign_in", "acme")
    await counts.flush(server.service)

    assert await total(server.service, "sign_in", "acme") == 2


@pytest.mark.parametrize("is_applied", [True, False])
async def test_a_count_of_unknown_outcome_is_not_added_again(server, monkeypatch, is_applied):
    real = server.store.increment

    async def lost(key, by=1, *, window):
        if is_applied:
            await real(key, by, window=window)
        raise Unknown(Unit("lost", ()))

    counts.count(server.service, "sign_in", "acme")
    with monkeypatch.context() as patch:
        patch.setattr(server.store, "increment", lost)
        await counts.flush(server.service)
    await counts.flush(server.service)

    assert await total(server.service, "sign_in", "acme") == is_applied


async def test_a_flush_that_is_stopped_loses_nothing(server, monkeypatch):
    real, begun, may_end = server.store.increment, asyncio.Event(), asyncio.Event()

    async def slow(key, by=1, *, window):
        begun.set()
        await may_end.wait()
        return await real(key, by, window=window)

    monkeypatch.setattr(server.store, "increment", slow)
    counts.count(server.service, "sign_in", None)
    flush = asyncio.create_task(flushing.flush(server.service))
    await begun.wait()
    flush.cancel()
    await asyncio.gather(flush, return_exceptions=True)
    may_end.set()
    counts.count(server.service, "sign_in", None)
    await server.service.background_tasks.finished()
    await flushing.flush(server.service)

    assert await total(server.service, "sign_in") == 2


async def test_one_flush_writes_at_most_2_000_keys_and_the_last_one_all(server):
    for number in range(1500):
        counts.count(server.service, "sign_in", f"org-{number}")
    await flushing.flush(server.service)
    written = len(await stored_keys(server))
    await flushing.flush_all(server.service)

    assert written == counts.MAX_FLUSHED
    assert len(await stored_keys(server)) == 3002
    assert await total(server.service, "sign_in") == 1500


async def test_a_process_remembers_at_most_10_000_keys(server):
    for number in range(counts.MAX_KEYS):
        counts.count(server.service, "sign_in", f"org-{number}")

    assert len(server.service.usage) == counts.MAX_KEYS


async def test_the_schedule_adds_the_counts_of_each_process_every_ten_seconds(server, timer):
    counts.count(server.service, "sign_in", "acme")
    async with schedule.running(server.service):
        await timer.advance(9)
        early = await total(server.service, "sign_in")
        await timer.advance(2)
        await until(lambda: total(server.service, "sign_in"))

    assert schedule.JOBS["usage"].runs_in_each_process
    assert (early, await total(server.service, "sign_in")) == (0, 1)


async def test_the_end_of_a_process_adds_its_counts(server, monkeypatch):
    other = as_process(server.service)
    counts.count(other, "sign_in", "acme")
    monkeypatch.setattr(other.hasher, "close", lambda: None)
    closed = []

    async def close():
        closed.append(await total(server.service, "sign_in"))

    monkeypatch.setattr(server.store, "close", close)
    await bootstrap.close_service(other)
    monkeypatch.undo()

    assert closed == [1]


async def test_removal_deletes_all_counts_of_the_organization_and_no_others(server):
    service = server.service
    for days in (0, 293, 7):
        server.clock.advance(timedelta(days=days))
        for org_id in ("acme", "acme:sign_in", "shop"):
            counts.count(service, "reset", org_id)
        await counts.flush(service)
    before = await stored_keys(server)
    await counts.remove(service, "acme")
    after = await stored_keys(server)
    await counts.remove(service, "acme")

    gone = set(before) - set(after)
    assert gone == {key for key in before if key.startswith("usage:acme:reset")}
    assert len([one async for one in server.store.scan(COUNTERS)]) == len(before) - 5
    assert await stored_keys(server) == after
