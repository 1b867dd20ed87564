"""`idp init`: an installation that is there before the service starts."""

from __future__ import annotations

import json
import subprocess
from contextlib import suppress

import pytest

from tests.support import patience
from tests.support.programs.in_process import run, started
from tests.support.programs.program import command, environment
from tests.support.servers.mongod import fresh_database


def files(directory):
    return {file.name: file.read_bytes() for file in directory.rglob("*") if file.is_file()}


def test_it_creates_what_a_first_start_creates_and_prints_its_line(tmp_path):
    ran = run(tmp_path, "init", "--admin-pat", "pat")
    told = json.loads(ran.stdout)

    assert (ran.returncode, ran.stderr) == (0, "")
    assert told["admin"]["password"]
    assert (tmp_path / "pat").read_text().strip() == told["adminPat"]
    announced = started(tmp_path).announcement["admin"]
    assert announced == told["admin"] | {"setupUrl": announced["setupUrl"]}


def test_without_secrets_the_line_has_none(tmp_path):
    ran = run(tmp_path, "init", "--admin-pat", "pat", "--without-secrets")
    told = json.loads(ran.stdout)

    assert (told["admin"]["password"], told["admin"]["setupUrl"]) == (None, None)
    assert (told["demo"], told["adminPat"]) == (None, None)
    assert (tmp_path / "pat").read_text().strip() not in ran.stdout


def test_where_there_is_an_installation_nothing_is_written(tmp_path):
    first = run(tmp_path, "init")
    before = files(tmp_path)
    again = run(tmp_path, "init")

    assert (first.returncode, again.returncode, again.stdout) == (0, 0, "")
    assert "the store has an installation already" in again.stderr
    assert files(tmp_path) == before


def test_it_creates_one_in_mongodb(tmp_path, mongod):
    with fresh_database(mongod) as url:
        ran = run(tmp_path, "init", "--store", url)
        again = run(tmp_path, "init", "--store", url)
        announcement = started(tmp_path, "--store", url).announcement

        told = json.loads(ran.stdout)
        assert (again.returncode, again.stdout) == (0, "")
        assert announcement["admin"]["password"] == told["admin"]["password"]


def test_an_empty_store_takes_the_key_that_there_is(tmp_path):
    run(tmp_path, "init")
    key = (tmp_path / "idp-data" / "master.key").read_bytes()
    (tmp_path / "idp-data" / "idp.sqlite3").unlink()
    ran = run(tmp_path, "init")

    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["admin"]["password"]
    assert (tmp_path / "idp-data" / "master.key").read_bytes() == key


def test_settings_that_cannot_be_used_create_nothing(tmp_path):
    ran = run(tmp_path, "init", "--issuer", "http://login.example.com")

    assert ran.returncode == 2
    assert "issuer" in ran.stderr
    assert files(tmp_path) == {}


@pytest.mark.full
def test_of_several_at_once_all_end_well_and_there_is_one_installation(tmp_path):
    processes = [
        subprocess.Popen(
            command("init"),
            cwd=tmp_path,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    ended = [(*each.communicate(timeout=patience.SECONDS), each.returncode) for each in processes]

    assert [code for *_, code in ended] == [0] * 4, ended
    lines = [json.loads(line) for out, *_ in ended for line in out.splitlines()]
    assert len({line["admin"]["password"] for line in lines}) == 1


@pytest.mark.full
@pytest.mark.parametrize("milliseconds", [300, 600, 900, 1200])
def test_one_that_was_killed_is_completed_by_the_next(tmp_path, milliseconds):
    process = subprocess.Popen(
        command("init"), cwd=tmp_path, env=environment(), stdout=subprocess.DEVNULL
    )
    with suppress(subprocess.TimeoutExpired):  # or else it has ended already
        process.wait(milliseconds / 1000)
    process.kill()
    process.wait()
    ran = run(tmp_path, "init")
    served = run(tmp_path, "doctor")

    assert ran.returncode == 0, ran.stderr
    assert "Traceback" not in served.stderr
