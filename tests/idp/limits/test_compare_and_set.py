"""A change of one record that others change at the same moment."""

from __future__ import annotations

import asyncio

import pytest
from msgspec import structs

from idp.foundation.errors import Busy
from idp.limits import compare_and_set
from idp.limits.compare_and_set import ReadRecord
from idp.records import FAILURE_STREAKS, FailureStreak
from storage import Conflict, Delete, Stale
from tests.support.store import lost_answers
from tests.support.store.both_stores import settings  # noqa: F401 - a fixture


def incremented(streak):
    before = streak or FailureStreak(id="dana")
    after = structs.replace(before, codes=before.codes + 1)
    return after, after.codes


async def decide(server, stored, decision=incremented, revision="r"):
    read = ReadRecord(FAILURE_STREAKS, "dana", stored)
    return await compare_and_set.decide(server.store, read, decision, revision)


async def test_of_concurrent_changes_none_is_lost(server):
    results = await asyncio.gather(*[decide(server, None, revision=f"r{n}") for n in range(20)])

    assert sorted(codes for _, codes in results) == list(range(1, 21))
    assert (await server.store.get(FAILURE_STREAKS, "dana")).codes == 20


async def test_a_record_that_was_deleted_meanwhile_begins_again(server):
    stored, _ = await decide(server, None)
    await server.store.commit(Delete(FAILURE_STREAKS, "dana"))

    assert (await decide(server, stored, revision="s"))[1] == 1


async def test_a_change_whose_answer_was_lost_counts_once(server, monkeypatch):
    lost_answers.lose(server.store, monkeypatch)

    assert (await decide(server, None))[1] == 1
    assert (await server.store.get(FAILURE_STREAKS, "dana")).codes == 1


async def test_a_record_that_began_again_with_the_same_counts_is_another_one(server):
    stored, _ = await decide(server, None)
    await server.store.commit(Delete(FAILURE_STREAKS, "dana"))
    await decide(server, None, revision="other")

    with pytest.raises((Stale, Conflict)):
        await server.store.commit(compare_and_set.write(FAILURE_STREAKS, stored, None))


async def test_nothing_is_stored_where_nothing_changes_or_the_decision_raises(server, monkeypatch):
    stored, _ = await decide(server, None)
    monkeypatch.setattr(server.store, "commit", None)

    def refuse(streak):
        raise Busy("full", retry_after_seconds=1)

    assert await decide(server, stored, lambda streak: (streak, "same")) == (stored, "same")
    assert await decide(server, None, lambda streak: (None, "none")) == (None, "none")
    with pytest.raises(Busy):
        await decide(server, stored, refuse)


async def test_a_change_that_is_always_overtaken_ends_as_busy(server, monkeypatch):
    async def overtaken(write):
        raise Stale(FAILURE_STREAKS.name, "dana")

    monkeypatch.setattr(server.store, "commit", overtaken)
    with pytest.raises(Busy):
        await decide(server, None)
