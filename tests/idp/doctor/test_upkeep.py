"""What the doctor says of work that the service does by itself."""

from __future__ import annotations

from datetime import timedelta

import pytest

from idp.doctor import upkeep
from idp.doctor.check import Installation
from idp.records import JOBS, LOGOUT_MESSAGES, OUTBOX, Job, LogoutMessage, OutboxMessage
from storage import Insert


@pytest.fixture
def installation(server):
    service = server.service
    return Installation(config=service.config, clock=service.clock, store=service.store)


@pytest.fixture
def add(server):
    async def add_record(collection, record):
        await server.store.commit(Insert(collection, record))

    return add_record


def imported(id, state, created_at, held_until=None):
    times = {"created_at": created_at, "changed_at": created_at, "held_until": held_until}
    return Job(id=id, state=state, actor="admin", **times)


async def test_an_import_that_no_process_continues_is_late(server, installation, add):
    now = server.clock.now()
    await add(JOBS, imported("left", "running", now, held_until=now + timedelta(seconds=20)))

    assert (await upkeep.jobs_late(installation)).state == "ok"
    server.clock.advance(10 * 60 + 21)
    found = await upkeep.jobs_late(installation)

    assert (found.state, found.names, found.count) == ("warn", ["left"], 1)


async def test_an_import_that_waits_for_another_is_not_late(server, installation, add):
    now = server.clock.now()
    await add(JOBS, imported("first", "running", now, held_until=now + timedelta(hours=2)))
    await add(JOBS, imported("second", "queued", now))

    server.clock.advance(3600)
    assert (await upkeep.jobs_late(installation)).state == "ok"
    server.clock.advance(3600 + 11 * 60)

    assert (await upkeep.jobs_late(installation)).names == ["first", "second"]


async def test_an_import_that_nothing_is_before_begins_within_ten_minutes(
    server, installation, add
):
    await add(JOBS, imported("waiting", "queued", server.clock.now()))

    server.clock.advance(10 * 60)
    assert (await upkeep.jobs_late(installation)).state == "ok"
    server.clock.advance(1)

    assert (await upkeep.jobs_late(installation)).names == ["waiting"]


@pytest.mark.parametrize(
    ("state", "found"),
    [("queued", "warn"), ("sending", "warn"), ("sent", "ok"), ("held", "ok"), ("failed", "ok")],
)
async def test_a_message_that_is_to_be_sent_waits_for_a_quarter_of_an_hour(
    server, installation, add, state, found
):
    now = server.clock.now()
    ends_at = now + timedelta(days=1)
    made = {"kind": "invite", "sealed": "", "created_at": now, "expires_at": ends_at}
    await add(OUTBOX, OutboxMessage(id="mail", state=state, **made))

    server.clock.advance(15 * 60)
    assert (await upkeep.outbox_age(installation)).state == "ok"
    server.clock.advance(1)

    assert (await upkeep.outbox_age(installation)).state == found


async def test_a_logout_message_is_late_once_its_next_attempt_is(server, installation, add):
    now = server.clock.now()
    times = {
        "created_at": now,
        "due_at": now + timedelta(minutes=30),
        "expires_at": now + timedelta(days=1),
    }
    ids = {"session_id": "session", "user_id": "user", "client_id": "shop"}
    await add(LOGOUT_MESSAGES, LogoutMessage(id="jti", **ids, **times))

    server.clock.advance(44 * 60)
    assert (await upkeep.outbox_age(installation)).state == "ok"
    server.clock.advance(2 * 60)
    found = await upkeep.outbox_age(installation)

    assert found.state == "warn"
    assert found.sentence == "the oldest message that waits to be sent has waited for 16 minutes"


async def test_a_key_is_overdue_a_day_after_its_time(server, installation):
    server.clock.advance(installation.config.key_rotation_seconds + 24 * 3600 - 60)
    assert (await upkeep.keys_age(installation)).state == "ok"
    server.clock.advance(120)
    found = await upkeep.keys_age(installation)

    assert (found.state, found.commands) == ("warn", ["idp keys rotate"])
    assert found.sentence.endswith("active keys has been in use for 31 days")
