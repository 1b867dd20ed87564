"""Backups of a service that serves, restores that are killed, and both in large."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import signal
import sqlite3
import subprocess
import time
from contextlib import closing
from datetime import datetime

import pymongo
import pytest

from idp.foundation.randomness import SystemRandom
from idp.records import EVENTS, Event
from idp.start import exit_codes
from storage import Insert
from tests.flows.conftest import at
from tests.program.backups.backing_up import CLOCK, url, without_leases, write_passphrase
from tests.support import invariants
from tests.support.programs.program import Program, command, environment, run
from tests.support.protocol.spent import Spent
from tests.support.store.backups import all_of, as_served

RESTORE = ("restore", "made.idp", "--passphrase-file", "secret")
OTHER = ("--data", "other")
ENOUGH = 300.0  # seconds, on a machine that has much else to do


@pytest.fixture
def made(installed):
    """Where there is a backup of a service that was started, and stopped."""
    write_passphrase(installed.parent)
    idp(installed.parent, "backup", "made.idp")
    return installed.parent


def idp(directory, *words):
    ended = run(directory, *words, "--passphrase-file", "secret", seconds=ENOUGH)
    assert ended.returncode == exit_codes.OK, ended.stderr
    return ended


def stored(directory, data="idp-data"):
    return asyncio.run(all_of(url(directory, data), CLOCK))


# Cut off


@pytest.mark.full
def test_a_store_whose_restore_was_killed_is_served_by_nobody_and_can_be_restored(made):
    asyncio.run(grow(url(made), 8_000))
    idp(made, "backup", "made.idp", "--overwrite")
    kill_restore(made, *OTHER, when=passes(lambda: events_in(made, "other"), 2000))

    for words in (["serve", "--port", "0"], ["schema", "status"], ["org", "list"]):
        ended = run(made, *words, "--data", "other")
        assert ended.returncode == exit_codes.FAILED, ended.stderr
        assert "idp restore" in ended.stderr
    ended = run(made, "backup", "b.idp", "--data", "other", "--passphrase-file", "secret")
    assert ended.returncode != exit_codes.OK

    restore_again(made, *OTHER)

    assert without_leases(stored(made, "other")) == without_leases(stored(made))


def restore_again(directory, *target):
    """As an operator does who is told that the other restore may still be at work."""
    ended = run(directory, *RESTORE, *target, seconds=ENOUGH)
    if (moment := is_at_work_until(ended.stderr)) is not None:
        sleep_until(moment)
        ended = run(directory, *RESTORE, *target, seconds=ENOUGH)
    assert ended.returncode == exit_codes.OK, ended.stderr


HELD = re.compile(r"is being filled at this moment, until (\S+ \S+)")


def is_at_work_until(text):
    found = HELD.search(text)
    return datetime.fromisoformat(found[1]) if found else None


def sleep_until(moment):
    time.sleep(max(0, (moment - CLOCK.now()).total_seconds()))


def kill_restore(directory, *target, when):
    """Kill a restore at that moment; it is begun when no other can be at work."""
    while True:
        with subprocess.Popen(
            command(*RESTORE, *target),
            cwd=directory,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as process:
            while process.poll() is None:
                if when():
                    os.killpg(process.pid, signal.SIGKILL)
                    return
                time.sleep(0.005)  # or looking takes the processor from what is looked at
            sleep_until(is_at_work_until(process.stderr.read()))


def passes(count, n):
    """Tells whether a count has gone past this number, up or down, since now."""
    was_reached = count() >= n
    return lambda: (count() >= n) is not was_reached


def events_in(directory, data):
    path = directory / data / "idp.sqlite3"
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as file:
            return file.execute("SELECT count(*) FROM events").fetchone()[0]
    except sqlite3.OperationalError:  # there is no such file, or no such table yet
        return 0


@pytest.mark.load
@pytest.mark.parametrize("seed", range(10))
def test_a_restore_that_is_killed_anywhere_and_repeated_is_whole(made, seed):
    asyncio.run(grow(url(made), 8000))
    idp(made, "backup", "made.idp", "--overwrite")
    chance = random.Random(seed)
    for _ in range(3):
        place = chance.randrange(1, 8000)
        kill_restore(made, *OTHER, when=passes(lambda: events_in(made, "other"), place))

    restore_again(made, *OTHER)

    assert without_leases(stored(made, "other")) == without_leases(stored(made))


@pytest.mark.load
def test_so_is_one_into_mongodb(made, mongodb):
    asyncio.run(grow(url(made), 4000))
    idp(made, "backup", "made.idp", "--overwrite")
    target = ("--store", mongodb, "--data", "shared")
    with pymongo.MongoClient(mongodb) as client:
        events = client.get_default_database()["events"]
        for place in (1500, 500, 3000):
            kill_restore(made, *target, when=passes(events.estimated_document_count, place))

    restore_again(made, *target)

    restored = asyncio.run(all_of(mongodb, CLOCK))
    assert without_leases(restored) == without_leases(stored(made))


@pytest.mark.load
@pytest.mark.parametrize("seed", range(6))
def test_a_backup_that_is_killed_leaves_the_one_before_and_nothing_that_verifies(made, seed):
    chance, before = random.Random(seed), (made / "made.idp").read_bytes()
    asyncio.run(grow(url(made), 8000))
    idp(made, "backup", "whole.idp")
    size = (made / "whole.idp").stat().st_size
    for name in ("made.idp", "new.idp"):
        place = chance.randrange(1, size * 3 // 4)
        draft = kill_backup(made, name, when=lambda draft, place=place: draft >= place)
        assert len(draft.read_bytes()) < size
        ended = run(made, "backup", "verify", draft.name, "--passphrase-file", "secret")
        assert ended.returncode == exit_codes.FAILED
        assert "backup.damaged" in ended.stderr
        draft.unlink()

    assert (made / "made.idp").read_bytes() == before
    assert not (made / "new.idp").exists()
    idp(made, "backup", "new.idp")
    whole, new = (
        json.loads(idp(made, "backup", "verify", name, "--json").stdout)["collections"]
        for name in ("whole.idp", "new.idp")
    )
    assert new == whole


def kill_backup(directory, name, when):
    """The draft that is left of a backup that is killed when its size is so much."""
    line = command("backup", name, "--overwrite", "--passphrase-file", "secret")
    quiet = {"stdin": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(
        line, cwd=directory, env=environment(), start_new_session=True, **quiet
    ) as process:
        # Whoever sleeps most of the time gets the processor before one of low priority.
        os.setpriority(os.PRIO_PROCESS, process.pid, 19)
        while not any(when(each.stat().st_size) for each in directory.glob(f".{name}.*")):
            assert process.poll() is None
            time.sleep(0.0005)
        os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    (draft,) = directory.glob(f".{name}.*")
    return draft


async def grow(store_url, n):
    """Give the store so many records more."""
    chance, now = SystemRandom(), CLOCK.now()
    async with as_served(store_url, CLOCK, None) as store:
        for start in range(0, n, 5000):
            units = [[Insert(EVENTS, event(chance, now))] for _ in range(min(5000, n - start))]
            assert not any(await store.commit_each(units))


def event(chance, now):
    return Event(
        id=chance.ordered_id(now),
        collection="users",
        record_id=chance.id(),
        sequence=1,
        type="user.created",
        actor="a test",
        at=now,
        payload=[("kind", "human")],
    )


# While it serves, and afterwards


@pytest.mark.full
@pytest.mark.parametrize("invalidates", [False, True])
async def test_a_service_goes_on_from_its_backup_and_what_was_spent_stays_so(
    tmp_path, open_browser, invalidates
):
    write_passphrase(tmp_path)
    program = Program(tmp_path).start()
    place, port = await at(program), program.port
    spent = await Spent.make(place, open_browser(program), program.user)
    await place.store.close()
    idp(tmp_path, "backup", "made.idp")  # while it serves
    program.kill()
    flags = ["--invalidate-tokens"] if invalidates else []
    idp(tmp_path, "restore", "made.idp", "--data", "other", *flags)
    again = Program(tmp_path, "--port", str(port), "--data", "other").start()

    try:
        browser = open_browser(again)
        if invalidates:
            page = await spent.party.refresh(browser, spent.living["refresh_token"])
            assert page.status == 400
            page = await spent.party.userinfo(browser, spent.living["access_token"])
            assert page.status == 401
        else:
            await spent.check(browser)
        again.stop()
    finally:
        again.kill()


@pytest.mark.full
async def test_a_backup_under_load_is_one_state(tmp_path, open_browser):
    write_passphrase(tmp_path)
    program = Program(tmp_path).start()
    party, browsers = program.demo(), [open_browser(program) for _ in range(3)]
    is_over = asyncio.Event()

    async def sign_in_and_out(browser):
        while not is_over.is_set():
            url = party.authorize_url(prompt="login", scope="openid offline_access")
            page = await browser.sign_in(url, *program.user)
            tokens = (await party.redeem(browser, page.answer["code"])).json()
            await party.refresh(browser, tokens["refresh_token"])

    load = [asyncio.ensure_future(sign_in_and_out(each)) for each in browsers]
    for n in range(2):
        await asyncio.to_thread(idp, tmp_path, "backup", f"{n}.idp")
    is_over.set()
    await asyncio.gather(*load)
    program.stop()

    for n in range(2):
        await asyncio.to_thread(idp, tmp_path, "restore", f"{n}.idp", "--data", f"data{n}")
        async with as_served(url(tmp_path, f"data{n}"), CLOCK, None) as store:
            await invariants.hold(store)


# In numbers


@pytest.mark.load
@pytest.mark.parametrize("n", [300_000])
def test_memory_stays_flat_whatever_the_size(made, n):
    idp(made, "backup", "small.idp")
    small = peak(made, "backup", "verify", "small.idp")
    asyncio.run(grow(url(made), n))

    backing_up = peak(made, "backup", "large.idp")
    verifying = peak(made, "backup", "verify", "large.idp")
    restoring = peak(made, "restore", "large.idp", "--data", "other")

    # argon2id takes 64 MiB by itself, whatever the size.
    assert max(backing_up, verifying, restoring) - small < 64 * 1024


def peak(made, *words):
    """The most memory that a command had, in KiB."""
    code = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True);"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    line = [*command(*words), "--passphrase-file", "secret"]
    ended = subprocess.run(
        [line[0], "-c", code, *line[5:]],
        cwd=made,
        env=environment(),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return int(ended.stdout.split()[-1])
