"""What the release before has left stale is corrected once it has gone, beside other work."""

from __future__ import annotations

from idp.background import late_upgrades
from idp.background import schedule as background_schedule
from idp.records import USERS
from idp.records.upgrades import FAMILY_KEYS_AGAIN
from storage import META, SCHEMA_ID, Unavailable, Update
from storage.upgrades import SIDE_BY_SIDE
from tests.support.patience import until


async def begin_upgrade(server):
    """The store is as it is after the first start of this version; a user of before is stale."""
    record = await server.store.get(META, SCHEMA_ID)
    done = [name for name in record.done if name != FAMILY_KEYS_AGAIN]
    upgraded = {"done": done, "upgraded_at": server.clock.now()}
    await server.store.commit(Update(META, SCHEMA_ID, set=upgraded))
    login_name, _ = await server.copy_user("stale")
    (user,) = (await server.store.find(USERS, {"login_key": login_name})).records
    changes = {"profile.family_name": "Byron", "family_key": "noel"}
    await server.store.commit(Update(USERS, user.id, set=changes))
    return user.id


async def is_found(server):
    page = await server.store.find(USERS, {"family_key": "byron"})
    return bool(page.records)


async def test_a_running_service_corrects_family_names_a_day_after_the_upgrade(server, timer):
    await begin_upgrade(server)

    async with background_schedule.running(server.service):
        await timer.advance(late_upgrades.POLL_SECONDS)
        assert not await is_found(server)
        server.clock.advance(SIDE_BY_SIDE)

        async def is_corrected():
            await timer.advance(late_upgrades.POLL_SECONDS)
            return FAMILY_KEYS_AGAIN in (await server.store.get(META, SCHEMA_ID)).done

        await until(is_corrected)

    assert await is_found(server)


async def test_a_store_that_is_away_is_asked_again(server, timer, monkeypatch):
    await begin_upgrade(server)
    server.clock.advance(SIDE_BY_SIDE)
    scan = server.service.store.scan

    def away(*_):
        monkeypatch.setattr(server.service.store, "scan", scan)
        raise Unavailable("away")

    monkeypatch.setattr(server.service.store, "scan", away)
    async with background_schedule.running(server.service):

        async def is_corrected():
            await timer.advance(late_upgrades.POLL_SECONDS)
            return await is_found(server)

        await until(is_corrected)
