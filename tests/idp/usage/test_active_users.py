"""Active users: each is counted once in a day, week and month, by whichever process is first."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from msgspec import structs

from idp.records import LAST_USES, USERS
from idp.usage import active_users, counts, flushing
from storage import Insert, Unavailable
from tests.idp.usage.conftest import as_process, total

KINDS = ("active_day", "active_week", "active_month")


def at(server, *instant) -> None:
    """Sets the clock of the service."""
    target = datetime(*instant, tzinfo=UTC)
    server.clock.advance((target - server.clock.now()).total_seconds())


async def flush(*services) -> None:
    """Flushes at the same moment, again until all is stored."""
    while any(one.active_users or one.usage for one in services):
        await asyncio.gather(*(flushing.flush(one) for one in services))


async def counted(server, *days) -> list[tuple[int, ...]]:
    """What was counted of each of `KINDS` on these days."""
    service, times = server.service, [datetime(*day, tzinfo=UTC) for day in days]
    found = await counts.read(service, None, KINDS, "DAY", times)
    return list(zip(*found.values(), strict=True))


async def test_across_midnight_two_racing_processes_count_a_user_once_a_day(server, pair, user):
    for instant in ((2030, 5, 14, 23, 59, 59), (2030, 5, 15, 0, 0, 1)):
        at(server, *instant)
        for one in pair:
            active_users.record(one, user)
    await flush(*pair)

    assert await counted(server, (2030, 5, 14), (2030, 5, 15)) == [(1, 1, 1), (1, 0, 0)]


@pytest.mark.parametrize("is_known", [True, False])
async def test_the_last_sign_in_of_a_day_counts_after_another_process_stored_the_next_day(
    server, pair, user, is_known
):
    early, late = pair
    if is_known:
        at(server, 2030, 5, 10, 12)
        active_users.record(early, user)
        await flush(early)
    at(server, 2030, 5, 14, 23, 59, 59)
    active_users.record(early, user)
    at(server, 2030, 5, 15, 0, 0, 1)
    active_users.record(late, user)
    await flush(late)
    await flush(early)
    for one in pair:
        one.last_uses.clear()
        active_users.record(one, user)
    await flush(*pair)
    stored = await server.store.get(LAST_USES, f"user:{user.id}")

    assert stored.at == datetime(2030, 5, 15, 0, 0, 1, tzinfo=UTC)
    days = await counted(server, (2030, 5, 10), (2030, 5, 14), (2030, 5, 15))
    assert [day for day, _, _ in days] == [is_known, 1, 1]
    assert sum(week for _, week, _ in days) == 1 + is_known
    assert sum(month for _, _, month in days) == 1


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ((2030, 5, 19, 12), (2030, 5, 20, 12), (1, 1, 0)),  # Sunday and Monday
        ((2030, 5, 31, 12), (2030, 6, 1, 12), (1, 0, 1)),  # Friday and Saturday
        ((2029, 12, 31, 12), (2030, 1, 1, 12), (1, 0, 1)),  # both in week 1 of 2030
    ],
)
async def test_a_user_counts_once_in_each_iso_week_and_month(
    server, pair, user, before, after, expected
):
    for instant in (before, after):
        at(server, *instant)
        for one in pair:
            active_users.record(one, user)
        await flush(*pair)

    assert await counted(server, before[:3], after[:3]) == [(1, 1, 1), expected]


async def test_a_use_is_stored_once_an_hour_and_again_on_a_new_day(server, user):
    service, stored = server.service, []
    for instant in ((14, 23, 10), (14, 23, 30), (15, 0, 5), (15, 0, 40), (15, 1, 6)):
        at(server, 2030, 5, *instant)
        active_users.record(service, user)
        await flush(service)
        stored.append((await server.store.get(LAST_USES, f"user:{user.id}")).at)

    assert [f"{each:%d %H:%M}" for each in stored] == [
        *("14 23:10", "14 23:10", "15 00:05", "15 00:05", "15 01:06")
    ]


async def test_of_many_processes_at_once_one_counts(server, user):
    services = [as_process(server.service) for _ in range(8)]
    for one in services:
        active_users.record(one, user)
    await flush(*services)

    assert [await total(server.service, kind) for kind in KINDS] == [1, 1, 1]
    assert await total(server.service, "active_day", user.org_id) == 1


async def test_while_the_store_is_away_the_users_wait(server, user, monkeypatch):
    async def away(keys):
        raise Unavailable("away")

    active_users.record(server.service, user)
    with monkeypatch.context() as patch:
        patch.setattr(server.store, "get_many", away)
        with pytest.raises(Unavailable):
            await flushing.flush(server.service)
    await flush(server.service)

    assert await total(server.service, "active_day") == 1


async def test_a_user_who_was_deleted_meanwhile_leaves_nothing(server, user):
    active_users.record(server.service, structs.replace(user, id="gone"))
    await flush(server.service)

    assert await server.store.get(LAST_USES, "user:gone") is None
    assert await total(server.service, "active_day") == 0


async def test_the_time_of_a_sign_in_is_kept_for_400_days(server, user):
    active_users.record(server.service, user)
    await flush(server.service)
    stored = await server.store.get(LAST_USES, f"user:{user.id}")

    assert stored.expires_at - stored.at == timedelta(days=400)


async def test_a_user_with_the_longest_id_is_counted_and_can_be_removed(server, user):
    long = structs.replace(user, id="n" * 200, login_key="long", email_key=None, address_key=None)
    await server.store.commit(Insert(USERS, long))
    active_users.record(server.service, long)
    await flush(server.service)
    stored = await server.store.get(*active_users.key(long.id))
    await server.store.commit(active_users.deletion(long.id))

    assert stored.at == server.clock.now()
    assert await total(server.service, "active_day") == 1
    assert await server.store.get(*active_users.key(long.id)) is None
