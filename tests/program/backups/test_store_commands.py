"""`idp store`: whether a store is whole."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing

from idp.start import exit_codes
from tests.program.backups.backing_up import url
from tests.program.backups.test_backup_commands import cheap, directory, idp, installation, run

__all__ = ["cheap", "directory", "installation"]  # fixtures


def path_of(directory):
    return directory / "idp-data" / "idp.sqlite3"


def test_a_store_that_is_not_there_is_not_made(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    ended = run(tmp_path, "store", "verify")

    assert ended.returncode == exit_codes.NOT_FOUND
    assert list(tmp_path.iterdir()) == []


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
