"""`idp store`: whether a store is whole, and its file made shorter."""

from __future__ import annotations

import asyncio
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import time
from contextlib import closing
from pathlib import Path

import pytest

import storage
from idp.start import exit_codes
from storage import StorageError, Unsupported
from storage.sqlite import compacting
from tests.program.backups.backing_up import CLOCK, url, without_leases
from tests.program.backups.test_backup_commands import (
    cheap,
    directory,
    idp,
    installation,
    run,
    stored,
)
from tests.program.backups.test_backup_program import grow
from tests.support import invariants
from tests.support.programs.program import Program, command, environment
from tests.support.store.backups import all_of, as_served

__all__ = ["cheap", "directory", "installation"]  # fixtures


def path_of(directory):
    return directory / "idp-data" / "idp.sqlite3"


def pragma(directory, name):
    with closing(sqlite3.connect(path_of(directory))) as file:
        return file.execute(f"PRAGMA {name}").fetchone()[0]


def inflate(directory, n=3000):
    """Give the file free pages, as one of an earlier release has them: for good."""
    with closing(sqlite3.connect(path_of(directory), isolation_level=None)) as file:
        file.execute("PRAGMA journal_mode = DELETE")
        file.execute("PRAGMA auto_vacuum = NONE")
        file.execute("VACUUM")
        file.execute("BEGIN")
        file.execute("CREATE TABLE waste(text)")
        file.executemany("INSERT INTO waste VALUES (?)", [("x" * 1000,)] * n)
        file.execute("DROP TABLE waste")
        file.execute("COMMIT")


# Compaction


@pytest.mark.full
def test_a_compacted_file_is_short_has_everything_and_becomes_shorter_by_itself(directory):
    before = stored(directory)
    inflate(directory)
    size = path_of(directory).stat().st_size

    found = json.loads(idp(directory, "store", "compact", "--json").stdout)

    assert found == {"bytesBefore": size, "bytesAfter": path_of(directory).stat().st_size}
    assert found["bytesAfter"] < size / 2
    assert pragma(directory, "auto_vacuum") == 2
    assert path_of(directory).stat().st_mode & 0o777 == 0o600
    assert without_leases(stored(directory)) == without_leases(before)
    assert stored(directory)[0] == before[0]
    assert not path_of(directory).with_name("idp.sqlite3.compact").exists()
    invariants.files_are_whole(url(directory))


@pytest.mark.full
async def test_while_the_store_is_open_nothing_is_compacted(directory):
    async with as_served(url(directory), CLOCK, None):
        before = path_of(directory).read_bytes()
        ended = await asyncio.to_thread(
            idp, directory, "store", "compact", code=exit_codes.CONFLICT
        )

        assert ended.stderr == "idp: the service is running: stop it first\n"
        assert path_of(directory).read_bytes() == before


def test_where_the_disk_has_no_room_nothing_is_compacted(directory, monkeypatch):
    size = path_of(directory).stat().st_size
    usage = shutil._ntuple_diskusage(size * 9, size * 8, int(size * 1.05))
    monkeypatch.setattr(compacting.shutil, "disk_usage", lambda place: usage)
    before = stored(directory)

    ended = idp(directory, "store", "compact", code=exit_codes.FAILED)

    assert f"there are {int(size * 1.05)}" in ended.stderr
    assert without_leases(stored(directory)) == without_leases(before)


@pytest.mark.full
@pytest.mark.parametrize("step", ["_make_empty", "_check_whole", "_sync", "os.replace"])
def test_a_compaction_that_fails_at_any_step_leaves_the_old_file(directory, monkeypatch, step):
    def fail(*arguments):
        raise OSError(5, "Input/output error")

    before = stored(directory)
    target = compacting.os if step == "os.replace" else compacting
    with monkeypatch.context() as failing:
        failing.setattr(target, step.removeprefix("os."), fail)
        ended = idp(directory, "store", "compact", code=exit_codes.UNREACHABLE)

    assert "Input/output error" in ended.stderr
    assert without_leases(stored(directory)) == without_leases(before)
    idp(directory, "store", "compact")  # the next one is not in the way of what is left
    assert without_leases(stored(directory)) == without_leases(before)


def test_a_new_file_that_is_not_whole_does_not_take_the_place(directory, monkeypatch):
    before = stored(directory)

    def damaged(path, draft):
        Path(draft).write_bytes(path_of(directory).read_bytes()[:8192])
        return 1

    monkeypatch.setattr(compacting, "_write_draft", damaged)
    with pytest.raises(StorageError):
        storage.compact(url(directory))

    assert without_leases(stored(directory)) == without_leases(before)


@pytest.mark.parametrize("store", ["memory://", "mongodb://127.0.0.1/idp"])
def test_only_a_sqlite_file_is_compacted(store):
    with pytest.raises(Unsupported):
        storage.compact(store)


def test_a_store_that_is_not_there_is_not_made(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    for verb in ("compact", "verify"):
        ended = run(tmp_path, "store", verb)
        assert ended.returncode == exit_codes.NOT_FOUND
    assert list(tmp_path.iterdir()) == []


@pytest.mark.load
@pytest.mark.gen_test(timeout=600)
def test_a_compaction_that_is_killed_leaves_a_whole_file(installed):
    work, chance = installed.parent, random.Random(7)
    asyncio.run(grow(url(work), 20_000))
    before = without_leases(asyncio.run(all_of(url(work), CLOCK)))
    line, lasts, killed = command("store", "compact"), 0.0, 0
    for n in range(21):
        with subprocess.Popen(
            line, cwd=work, env=environment(), start_new_session=True
        ) as process:
            began = time.monotonic()
            if n:
                draft = path_of(work).with_name("idp.sqlite3.compact")
                while not draft.exists() and process.poll() is None:
                    time.sleep(0.0005)
                time.sleep(lasts * chance.uniform(0, 0.3))
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    killed += 1
            process.wait()
            lasts = lasts or time.monotonic() - began
        with closing(sqlite3.connect(path_of(work))) as file:
            assert file.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    found = without_leases(asyncio.run(all_of(url(work), CLOCK)))

    assert killed >= 15
    assert found == before


@pytest.mark.full
def test_a_service_that_runs_keeps_its_file_from_compaction(installed):
    program = Program(installed.parent).start()
    try:
        ended = subprocess.run(
            command("store", "compact"),
            cwd=installed.parent,
            env=environment(),
            capture_output=True,
            text=True,
        )
        assert ended.returncode == exit_codes.CONFLICT
        assert ended.stderr == "idp: the service is running: stop it first\n"
    finally:
        program.stop()


# Verification


def test_a_whole_store_has_the_digests_of_its_backup(directory):
    idp(directory, "backup", "made.idp")
    told = json.loads(idp(directory, "backup", "verify", "made.idp", "--json").stdout)

    found = json.loads(idp(directory, "store", "verify", "--json").stdout)

    assert found["schema"] == told["schema"]
    for each in (found, told):  # the turns at background work end within seconds
        each["collections"].pop("leases", None)
    assert found["collections"] == told["collections"]
    for_people = idp(directory, "store", "verify")
    assert "users" in for_people.stdout
    assert "the store is whole: " in for_people.stderr


def test_a_record_that_can_not_be_read_is_named_by_its_collection(directory):
    with closing(sqlite3.connect(path_of(directory), isolation_level=None)) as file:
        file.execute("UPDATE users SET doc = json_set(doc, '$.created_at', 'yesterday')")

    ended = idp(directory, "store", "verify", code=exit_codes.FAILED)

    assert "a record of users can't be read" in ended.stderr
    assert "(store.damaged)" in ended.stderr


def test_a_damaged_file_is_reported(directory):
    with closing(sqlite3.connect(path_of(directory), isolation_level=None)) as file:
        file.execute("PRAGMA journal_mode = DELETE")
        asked = "SELECT rootpage FROM sqlite_master WHERE name = 'events'"
        (root,) = file.execute(asked).fetchone()
        (size,) = file.execute("PRAGMA page_size").fetchone()
    with path_of(directory).open("r+b") as file:
        file.seek((root - 1) * size)
        file.write(b"\xff" * size)

    ended = idp(directory, "store", "verify", code=exit_codes.FAILED)

    assert "(store.damaged)" in ended.stderr


def test_a_store_whose_key_is_another_one_is_not_whole(directory):
    (directory / "idp-data" / "master.key").write_text("A" * 43 + "\n")

    ended = idp(directory, "store", "verify", code=exit_codes.USAGE)

    assert "master key" in ended.stderr


async def test_a_store_in_mongodb_is_read_too(directory, mongodb):
    words = ("copy-store", "--from", url(directory), "--to", mongodb)
    await asyncio.to_thread(idp, directory, *words)

    ended = await asyncio.to_thread(idp, directory, "store", "verify", "--store", mongodb)

    assert "the store is whole" in ended.stderr
