"""MongoDB: closed connections, lost answers and refusals; nothing is lost and nothing double."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest

from storage import Conflict, Delete, Insert, Stale, Unavailable, Unit, Unknown, Update
from storage.mongo import faults
from tests.storage.mongo.mongo_stores import make, timed
from tests.storage.records import ALL, ENTRIES, TICKETS, USERS, Entry, Ticket, user
from tests.support.patience import until

MINUTE = timedelta(minutes=1)

# The drivers send a command twice by themselves: after two failures it is the store's turn.
TWICE = 2
LOSSY_TURNS = 20

WRITES = {
    "insert": Insert(USERS, user("new")),
    "insert that replaces": Insert(
        TICKETS, Ticket(id="t", expires_at=datetime.now(UTC) + timedelta(hours=1))
    ),
    "update": Update(USERS, "old", increment={"n": 1}, expect={"note": None}),
    "delete": Delete(USERS, "old"),
    "conditional delete": Delete(USERS, "old", expect={"n": 0}),
}
COMMAND = {"insert that replaces": "update", "conditional delete": "delete"}


@pytest.mark.parametrize("kind", WRITES)
async def test_a_write_survives_closed_connections(faulty, kind):
    await faulty.commit(Insert(USERS, user("old")))
    faulty.fail(COMMAND.get(kind, kind), times=TWICE)
    await faulty.commit(WRITES[kind])

    assert (await faulty.get(USERS, "new") is not None) == (kind == "insert")
    assert (await faulty.get(TICKETS, "t") is not None) == (kind == "insert that replaces")
    old = await faulty.get(USERS, "old")
    assert (old is None) == (COMMAND.get(kind, kind) == "delete")
    assert old is None or old.n == (kind == "update")


async def test_shared_updates_survive_closed_connections(faulty):
    await faulty.commit_each([[Insert(USERS, user(f"u{n}"))] for n in range(30)])
    faulty.fail("update", times=TWICE)
    outcomes = await asyncio.gather(
        *(
            faulty.commit(Update(USERS, f"u{n}", increment={"n": 1}, expect={"n": n % 2}))
            for n in range(30)
        ),
        return_exceptions=True,
    )

    assert [type(outcome) for outcome in outcomes] == [type(None), Stale] * 15
    assert [r.n async for r in faulty.scan(USERS)] == [
        1 - int(id[1:]) % 2 for id in sorted(f"u{n}" for n in range(30))
    ]


@pytest.mark.parametrize("command", ["insert", "update", "commitTransaction"])
async def test_a_transaction_survives_closed_connections(faulty, command):
    await faulty.commit(Insert(USERS, user("a")))
    faulty.fail(command, times=TWICE)
    await faulty.commit(
        Update(USERS, "a", increment={"n": 1}, expect={"n": 0}), Insert(ENTRIES, Entry(id="e"))
    )

    assert (await faulty.get(USERS, "a")).n == 1
    assert await faulty.get(ENTRIES, "e") == Entry(id="e")


async def test_reads_and_counters_survive_closed_connections(faulty):
    await faulty.commit(Insert(USERS, user("a")))
    faulty.fail("find", "aggregate", times=TWICE)
    assert await faulty.get_many([(USERS, "a"), (ENTRIES, "e")]) == [user("a"), None]
    faulty.fail("findAndModify", times=TWICE)
    await faulty.increment("k", window=MINUTE)
    faulty.fail("findAndModify", times=TWICE)

    assert (await faulty.increment("k", window=MINUTE)).n == 2


async def test_a_count_that_was_given_up_counts_once_when_it_arrives_after_all(faulty):
    """The driver sends it twice and waits for neither, then the store begins anew."""
    impatient = make(f"{faulty.url}&socketTimeoutMS=200")
    await impatient.open(ALL)
    faulty.fail("findAndModify", times=2, blockConnection=True, blockTimeMS=700)
    counted = await impatient.increment("k", window=MINUTE)
    await until(lambda: faulty.has_ended())
    later = await impatient.increment("k", 0, window=MINUTE)
    await impatient.close()

    assert (counted.n, later.n) == (1, 1)


async def test_a_write_that_a_majority_did_not_acknowledge_is_sent_again(faulty):
    """The command is done, but its answer says that it may be rolled back."""
    await faulty.commit(Insert(USERS, user("a")))
    weak = {"code": 64, "codeName": "WriteConcernTimeout", "errmsg": "waiting timed out"}
    faulty.fail("update", times=2, writeConcernError=weak)
    await faulty.commit(Update(USERS, "a", increment={"n": 1}))

    assert (await faulty.get(USERS, "a")).n == 1


async def test_a_refusal_of_the_server_is_unavailable_at_once(faulty):
    await faulty.commit(Insert(USERS, user("a")))
    faulty.fail("update", errorCode=13)
    with timed(1), pytest.raises(Unavailable, match=r"refuses: Unauthorized \(error 13\)$"):
        await faulty.commit(Update(USERS, "a", increment={"n": 1}))

    assert (await faulty.get(USERS, "a")).n == 0


async def test_a_ping_that_is_not_answered_is_unavailable_after_two_seconds(faulty):
    faulty.fail("ping", blockConnection=True, blockTimeMS=2500)
    with timed(2.5), pytest.raises(Unavailable):
        await faulty.ping()

    await faulty.ping()


@pytest.mark.parametrize("kind", ["insert", "insert that replaces", "update", "delete"])
async def test_a_write_whose_answers_are_lost_is_applied_once(lossy, kind):
    await lossy.commit(Insert(USERS, user("old")))
    lossy.proxy.lost[COMMAND.get(kind, kind)] = TWICE
    await lossy.commit(WRITES[kind])

    assert lossy.proxy.swallowed == TWICE
    old = await lossy.get(USERS, "old")
    assert old is None or old.n == (kind == "update")


async def test_a_refused_write_whose_answers_are_lost_stays_refused(lossy):
    await lossy.commit(Insert(USERS, user("old")))
    lossy.proxy.lost.update(insert=TWICE, update=TWICE)
    with pytest.raises(Conflict):
        await lossy.commit(Insert(USERS, user("other", login_key="old@example.com")))
    with pytest.raises(Stale):
        await lossy.commit(Update(USERS, "old", set={"n": 5}, expect={"n": 1}))

    assert lossy.proxy.swallowed == 2 * TWICE
    assert await lossy.get(USERS, "old") == user("old")


async def test_a_unit_whose_commit_answers_are_lost_is_applied_once(lossy):
    await lossy.commit(Insert(USERS, user("a")))
    lossy.proxy.lost["commitTransaction"] = TWICE
    await lossy.commit(
        Update(USERS, "a", increment={"n": 1}, expect={"n": 0}), Insert(ENTRIES, Entry(id="e"))
    )

    assert lossy.proxy.swallowed == TWICE
    assert (await lossy.get(USERS, "a")).n == 1


async def test_an_increment_whose_answers_are_lost_counts_once(lossy):
    for n in (1, 2):
        lossy.proxy.lost["findAndModify"] = TWICE
        assert (await lossy.increment("k", window=MINUTE)).n == n


async def test_a_conditional_delete_whose_answers_are_lost_may_stay_unknown(lossy):
    await lossy.commit(Insert(USERS, user("a")))
    lossy.proxy.lost["delete"] = 2
    with pytest.raises(Unknown) as caught:
        await lossy.commit(Delete(USERS, "a", expect={"n": 0}))

    assert await lossy.applied(caught.value.unit) is None


async def test_answers_lost_for_longer_than_eight_seconds_are_unknown(lossy):
    await lossy.commit(Insert(USERS, user("a")))
    lossy.proxy.lost.update(update=10_000, commitTransaction=10_000)
    update = Update(USERS, "a", increment={"n": 1})
    with timed(11):
        outcomes = await asyncio.gather(
            lossy.commit(update),
            lossy.commit(Insert(USERS, user("b")), Insert(ENTRIES, Entry(id="e"))),
            return_exceptions=True,
        )
    lossy.proxy.lost.clear()

    assert [type(outcome) for outcome in outcomes] == [Unknown, Unknown]
    for outcome in outcomes:
        assert await lossy.applied(outcome.unit) is True
    assert await lossy.applied(Unit("never", (update,))) is False
    assert (await lossy.get(USERS, "a")).n == 1


@pytest.mark.load
async def test_of_many_lost_answers_none_is_wrong_and_none_double(lossy):
    """Every third round loses answers of every kind while units are shared and repeated."""
    await lossy.commit_each([[Insert(USERS, user(f"u{n}"))] for n in range(10)])
    expected = Counter()
    for turn in range(LOSSY_TURNS):
        lossy.proxy.lost.update({"update": turn % 3, "commitTransaction": turn % 4})
        outcomes = await asyncio.gather(
            *(lossy.commit(Update(USERS, f"u{n}", increment={"n": 1})) for n in range(10)),
            lossy.commit(
                Update(USERS, f"u{turn % 10}", increment={"n": 1}),
                Insert(ENTRIES, Entry(id=f"e{turn}")),
            ),
        )
        assert outcomes == [None] * 11
        expected.update([*range(10), turn % 10])

    found = [record async for record in lossy.scan(USERS)]
    assert {int(record.id[1:]): record.n for record in found} == expected
    assert lossy.proxy.swallowed > LOSSY_TURNS


@pytest.mark.load
@pytest.mark.parametrize("writes", [1, 2])
async def test_motor_is_asked_for_an_outcome_when_nothing_is_under_way_any_more(
    faulty, monkeypatch, writes
):
    """A thread can't be stopped: it goes on when its caller has given it up."""
    if "driver=motor" not in faulty.url:
        pytest.skip("PyMongo's commands end with their caller")
    monkeypatch.setattr(faults.Attempts.__init__, "__defaults__", (0.3,))
    command = "insert" if writes == 1 else "commitTransaction"
    faulty.fail(command, blockConnection=True, blockTimeMS=1000)
    unit = [Insert(USERS, user("a")), Insert(ENTRIES, Entry(id="e"))][:writes]
    with pytest.raises(Unknown) as caught:
        await faulty.commit(*unit)
    is_applied = await faulty.applied(caught.value.unit)
    await until(lambda: faulty.has_ended())

    assert (await faulty.get(USERS, "a") is not None) == is_applied


@pytest.mark.parametrize("command", ["update", "commitTransaction"])
async def test_a_write_reported_as_not_applied_does_not_come_later(faulty, monkeypatch, command):
    """The server still holds the command when its caller asks what came of it."""
    monkeypatch.setattr(faults.Attempts.__init__, "__defaults__", (0.3,))
    await faulty.commit(Insert(USERS, user("a")))
    faulty.fail(command, blockConnection=True, blockTimeMS=1000)
    writes = [Update(USERS, "a", increment={"n": 1}), Insert(ENTRIES, Entry(id="e"))]
    with pytest.raises(Unknown) as caught:
        await faulty.commit(*(writes[:1] if command == "update" else writes))

    is_applied = await faulty.applied(caught.value.unit)
    await until(lambda: faulty.has_ended())

    assert (await faulty.get(USERS, "a")).n == is_applied
    assert await faulty.applied(caught.value.unit) is is_applied
    await faulty.commit(Update(USERS, "a", increment={"n": 1}))
    assert (await faulty.get(USERS, "a")).n == is_applied + 1
