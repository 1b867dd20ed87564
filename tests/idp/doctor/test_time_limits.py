"""`idp doctor` waits for no server for long, and says which checks had no time."""

from __future__ import annotations

import asyncio
import socket
import threading
from contextlib import suppress

import pytest

from idp import doctor
from idp.config.settings import Config
from idp.doctor import examination
from idp.doctor.check import Installation
from idp.foundation.clock import SystemClock
from idp.foundation.daemon_threads import DaemonThreads
from idp.outgoing.http import Outgoing
from storage import open_store

ISSUER = "https://login.example.com"


@pytest.fixture
def silent_port():
    """A port whose connections are never answered."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


async def never(*_):
    await asyncio.Event().wait()


def by_id(results):
    return {each.check.id: each.finding for each in results}


@pytest.mark.full
async def test_a_mongodb_and_a_name_server_that_do_not_answer_have_a_limit(
    silent_port, tmp_path, monkeypatch
):
    monkeypatch.setattr(examination, "OPENING_SECONDS", 0.2)
    monkeypatch.setattr(examination, "WAITING_SECONDS", 20)
    monkeypatch.setattr(doctor, "OUTSIDE_SECONDS", 0.3)
    url = f"mongodb://127.0.0.1:{silent_port}/idp?replicaSet=rs0"
    config = Config(data=str(tmp_path), store=url, issuer=ISSUER)
    found = by_id(await examination.run(config, outgoing=Outgoing(resolve=never)))

    assert found["store.reach"].state == "fail"
    assert found["store.reach"].sentence == "the store can't be used: no answer for 0.2 s"
    assert found["store.schema"].state == "skipped"
    assert found["issuer.dns"].state == "fail"
    assert found["issuer.dns"].sentence == "the check was not done after 0.3 s"
    assert found["data.owner"].state == "ok"


@pytest.mark.parametrize(
    ("url", "states"), [("mongodb://db1/idp", {"warn"}), ("sqlite:////idp", {"ok", "skipped"})]
)
async def test_only_checks_that_wait_for_a_server_are_left_out_when_the_time_is_over(url, states):
    store = open_store("memory://", now=SystemClock().now, new_id=lambda: "id")
    await store.open([])
    installation = Installation(
        config=Config(data="/nonexistent", store=url, issuer=ISSUER),
        clock=SystemClock(),
        store=store,
        has_records=False,
        deadline=asyncio.get_running_loop().time(),
    )
    found = by_id(await doctor.examine(installation, ["files", "store", "outside"]))
    await store.close()

    checks = [id for id in found if id.startswith(("sqlite", "mongo"))]
    assert {found[id].state for id in checks} <= states
    assert found["issuer.dns"].state == "warn"
    assert found["issuer.dns"].sentence.startswith("the time was up")
    assert found["data.filesystem"].state != "warn"


def test_a_call_that_waits_does_not_hold_up_the_end_of_a_program():
    released = threading.Event()

    async def work():
        asyncio.get_running_loop().set_default_executor(DaemonThreads())
        with suppress(TimeoutError):
            async with asyncio.timeout(0.01):
                await asyncio.to_thread(released.wait)
        with pytest.raises(OSError, match="no such name"):
            await asyncio.to_thread(refuse)
        return await asyncio.to_thread(sum, [3, 4])

    assert asyncio.run(work()) == 7
    assert not released.is_set()
    released.set()


def refuse():
    raise OSError("no such name")
