"""`idp schema`, as typed."""

from __future__ import annotations

import asyncio
import json
import subprocess
import uuid
from datetime import UTC, datetime
from pathlib import Path

import pytest

from idp.records import ALL, ORGANIZATIONS
from idp.start import exit_codes
from storage import META, SCHEMA_ID, Update, open_store
from tests.support.programs.in_process import run
from tests.support.programs.program import command, environment
from tests.support.store.stored import everything

ROOT = str(Path(__file__).parents[3])


@pytest.fixture
def directory(installed):
    """Where a service has been started, and stopped."""
    return installed.parent


def newer(directory, *arguments):
    """A command of the version to come."""
    return subprocess.run(
        command(*arguments, module="tests.program.newer"),
        cwd=directory,
        env=environment(PYTHONPATH=ROOT),
        capture_output=True,
        text=True,
    )


def in_store(directory, ask):
    async def asked():
        url = f"sqlite:///{directory}/idp-data/idp.sqlite3"
        store = open_store(url, now=lambda: datetime.now(UTC), new_id=lambda: uuid.uuid4().hex)
        await store.open(ALL, None)
        try:
            return await ask(store)
        finally:
            await store.close()

    return asyncio.run(asked())


def names(directory):
    async def ask(store):
        return {each.name async for each in store.scan(ORGANIZATIONS)}

    return in_store(directory, ask)


def status(ended):
    assert ended.returncode == exit_codes.OK, ended.stderr
    return json.loads(ended.stdout)


@pytest.mark.full
def test_the_status_shows_versions_and_pending_steps_and_changes_nothing(directory):
    before = in_store(directory, everything)
    told = {
        "storeVersion": 3,
        "oldestReader": 1,
        "programVersion": 3,
        "pending": [],
        "late": [],
        "heldUntil": None,
    }
    assert status(run(directory, "schema", "status", "--json")) == told

    later = status(newer(directory, "schema", "status", "--json"))

    assert later == told | {"programVersion": 4, "pending": ["rename"], "late": ["again"]}
    assert in_store(directory, everything) == before


@pytest.mark.full
def test_the_status_is_for_people_too(directory):
    ended = newer(directory, "schema", "status")

    lines = [line.split(maxsplit=1) for line in ended.stdout.splitlines()]
    assert lines[-2:] == [["pending", "rename"], ["a", "day later   again"]]
    assert "store         version 3" in ended.stdout


@pytest.mark.full
def test_an_upgrade_prints_its_steps_once(directory):
    first = newer(directory, "schema", "upgrade")

    assert (first.returncode, first.stdout) == (exit_codes.OK, "rename\n")
    assert "version 4" in first.stderr
    assert names(directory) == {"renamed"}
    again = newer(directory, "schema", "upgrade")
    assert (again.returncode, again.stdout) == (exit_codes.OK, "")
    assert status(newer(directory, "schema", "status", "--json"))["pending"] == []


def test_a_start_of_a_newer_version_upgrades(directory, start_program):
    start_program(module="tests.program.newer", PYTHONPATH=ROOT).stop()

    assert names(directory) == {"renamed"}
    assert status(run(directory, "schema", "status", "--json"))["storeVersion"] == 4


def test_a_store_that_is_too_new_is_reported_and_left_alone(directory):
    async def age(store):
        later = {"version": 9, "oldest_reader": 8}
        await store.commit(Update(META, SCHEMA_ID, set=later))

    in_store(directory, age)
    before = in_store(directory, everything)

    for words in (["schema", "status"], ["schema", "upgrade"], ["serve", "--port", "0"]):
        ended = run(directory, *words)

        assert ended.returncode == exit_codes.FAILED
        assert ended.stderr.strip() == (
            "idp: the store needs a program of schema version 8 or later; this one has 3. Run that"
            " one, or restore the backup that was made before the upgrade (`idp restore`)"
        )
    assert in_store(directory, everything) == before


@pytest.mark.parametrize("verb", ["status", "upgrade"])
def test_where_there_is_no_store_none_is_made(tmp_path, verb):
    ended = run(tmp_path, "schema", verb)

    assert ended.returncode == exit_codes.NOT_FOUND
    assert "no installation" in ended.stderr
    assert list(tmp_path.iterdir()) == []
