"""`idp doctor`: each check is provoked, and cured by the command that it prints."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import shutil
from datetime import UTC, datetime, timedelta

import jsonschema
import msgspec
import pytest

from idp import doctor
from idp.config.settings import Config
from idp.doctor import examination, report
from idp.records import PROJECTS
from storage import META, SCHEMA_ID, Update
from tests.program.doctor.doctor_cases import (
    CASES,
    add_application,
    debug_mode,
    endless_app_key,
    endless_user_key,
    nothing,
    open_application,
)
from tests.program.doctor.doctor_machine_cases import Usage, network_disk, open_key
from tests.program.doctor.doctor_store_cases import clock_apart, drop_index, server
from tests.support import doctor_schema
from tests.support.programs import program
from tests.support.programs.doctor_place import Place, by_commands
from tests.support.programs.in_process import run


@pytest.fixture
def place(installed, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(4 * 10**10, 0, 3 * 10**10))
    return Place(installed, monkeypatch)


@pytest.fixture
def limits():
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


OUTSIDE = {each.id for each in doctor.AREAS["outside"]}  # tests/idp/doctor/test_outside.py


@pytest.mark.promise("doctor: checks")
def test_every_check_has_a_test_that_provokes_and_cures_it():
    every = [each.id for checks in doctor.AREAS.values() for each in checks]

    assert sorted([*CASES, *OUTSIDE]) == sorted(every)
    assert len(every) == 41


# Their cure is a command of a shell.
OF_A_SHELL = {"data.owner", "key.mode", "pat.mode"}


@pytest.mark.promise("doctor: checks")
@pytest.mark.every_row
@pytest.mark.parametrize(
    "id", [pytest.param(id, marks=[pytest.mark.full] * (id in OF_A_SHELL)) for id in CASES]
)
def test_what_a_check_finds_is_cured_by_what_it_prints(place, limits, id):
    state, provoke, cure = CASES[id]
    if provoke is not nothing:
        assert place.find(id).state in ("ok", "skipped")

    provoke(place)
    found = place.find(id)
    assert found.state == state, found
    cure(place, found)

    assert place.find(id).state == "ok"


@pytest.mark.parametrize(
    ("id", "provoke"),
    [
        ("applications.debug", debug_mode),
        ("tokens.endless", endless_user_key),
        ("tokens.endless", endless_app_key),
    ],
)
def test_the_other_ways_into_a_finding_are_cured_too(place, id, provoke):
    provoke(place)
    found = place.find(id)
    assert found.state == "warn"

    by_commands(place, found)

    assert place.find(id).state == "ok"


@pytest.mark.full
@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_file_of_another_user_in_the_data_directory_fails(place):
    os.chown(place.data / "master.key", 12345, 12345)
    found = place.find("data.owner")
    assert (found.state, found.count) == ("fail", 1)
    assert found.names == [str(place.data / "master.key")]
    assert found.fix == ""  # what the check says of owners

    by_commands(place, found)

    assert place.find("data.owner").state == "ok"


def test_an_open_data_directory_is_advised_to_be_closed_and_not_to_change_its_owner(place):
    place.data.chmod(0o755)
    found = place.find("data.owner")

    assert found.sentence == f"{place.data} is open to others (mode 0755)"
    assert found.fix == "Restrict the directory to its owner."
    assert list(found.commands) == [f"chmod 700 {place.data}"]


@pytest.mark.parametrize(
    ("free", "state"),
    [(4 * 10**9, "ok"), (39 * 10**8, "warn"), (41 * 10**7, "warn"), (39 * 10**7, "fail")],
)
def test_the_room_on_the_disk_is_checked_by_share(place, free, state):
    place.monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(4 * 10**10, 0, free))

    assert place.find("disk.free").state == state


@pytest.mark.parametrize(("seconds", "state"), [(0, "ok"), (3, "warn"), (-3, "warn"), (9, "fail")])
def test_clocks_that_are_apart_are_a_warning_and_then_a_failure(place, seconds, state):
    clock_apart(place, seconds)

    assert place.find("store.clock").state == state


@pytest.mark.parametrize(
    ("kind", "state"),
    [("nfs", "fail"), ("cifs", "fail"), ("fuse.sshfs", "fail"), ("ext4", "ok"), ("overlay", "ok")],
)
def test_a_file_is_to_be_on_a_disk_of_this_machine(place, kind, state):
    network_disk(place, kind)

    found = place.find("data.filesystem")

    assert (found.state, found.sentence) == (state, f"the file system of {place.data} is {kind}")


@pytest.mark.parametrize(
    ("members", "reachable", "state"),
    [(3, 3, "ok"), (3, 2, "warn"), (3, 1, "fail"), (4, 2, "fail"), (1, 1, "warn"), (2, 2, "warn")],
)
def test_a_majority_of_three_members_is_to_answer(place, members, reachable, state):
    server(place, members=members, reachable=reachable)

    found = place.find("mongo.members")

    assert found.state == state
    assert found.sentence.startswith(f"{reachable} of {members} members")


def test_what_the_user_of_the_store_may_not_read_is_skipped(place):
    server(place, transaction_seconds=None, history_seconds=None)

    assert place.find("mongo.lifetime").state == "skipped"
    assert place.find("mongo.history").state == "skipped"


@pytest.mark.parametrize(("seconds", "state"), [(10.0, "ok"), (11.0, "warn")])
def test_a_majority_has_what_was_written_before_ten_seconds(place, seconds, state):
    server(place, unconfirmed_seconds=seconds)

    assert place.find("store.unsettled").state == state


def test_a_restore_that_goes_on_is_not_called_interrupted(place):
    now = datetime.now(UTC)
    ends_at = now + timedelta(seconds=30)
    place.write(Update(META, SCHEMA_ID, set={"filled_since": now, "held_until": ends_at}))

    assert place.find("store.unsettled").state == "warn"
    assert place.find("applications.pkce").state == "skipped"


def test_what_is_missing_is_found_and_not_made(place):
    drop_index(place)
    first = place.find("store.indexes")

    assert place.find("emails.unproven").state == "skipped"
    assert place.find("store.indexes") == first


def test_an_application_of_a_narrowed_project_is_not_open(place):
    open_application(place)
    project = place.one(PROJECTS)
    place.write(Update(PROJECTS, project.id, set={"requires_grant": True}))

    assert place.find("applications.open").state == "ok"


def test_a_check_that_breaks_is_a_failure_of_that_check_alone(place):
    def broken(_):
        raise OSError("no such disk")

    place.monkeypatch.setattr(shutil, "disk_usage", broken)

    found = place.find("disk.free")
    assert (found.state, found.sentence) == (
        "fail",
        "the check failed unexpectedly: OSError: no such disk",
    )
    assert place.find("store.reach").state == "ok"


def test_a_check_looks_at_no_more_records_than_it_may(place):
    add_application(place, requires_pkce=False)
    config = Config(data=str(place.data))
    place.monkeypatch.setattr(examination, "MAX_RECORDS", 1)

    some, every = (
        {
            each.check.id: each.finding
            for each in asyncio.run(examination.run(config, is_deep=deep))
        }
        for deep in (False, True)
    )

    assert "of the first 1 users" in some["emails.unproven"].sentence
    assert "of 2 users" in every["emails.unproven"].sentence


# The command


def test_the_schema_of_the_report_has_every_check():
    stored = doctor_schema.FILE.read_text(encoding="utf-8")

    assert stored == doctor_schema.text(), "run python -m tests.support.doctor_schema"


@pytest.mark.promise("doctor: exit codes")
def test_the_command_works_beside_a_running_service_and_changes_nothing(start_program):
    program = start_program()
    ended = run(program.directory, "doctor", "--json")

    told = json.loads(ended.stdout)
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr == ""
    assert [each["id"] for each in told["result"]] == [
        each.id for checks in doctor.AREAS.values() for each in checks
    ]
    assert {each["state"] for each in told["result"]} == {"ok", "warn", "skipped"}
    jsonschema.validate(told, json.loads(doctor_schema.FILE.read_text()))


@pytest.mark.promise("doctor: exit codes")
def test_a_failure_ends_the_command_with_1_and_nothing_secret_is_printed(installed):
    key = installed / "master.key"
    key.chmod(0o644)

    ended = run(installed.parent, "doctor")

    assert ended.returncode == 1
    assert "$ chmod 600 idp-data/master.key" in ended.stdout
    assert key.read_text().strip() not in ended.stdout + ended.stderr


@pytest.mark.promise("doctor: exit codes")
def test_settings_that_can_t_be_used_end_the_command_with_2(installed):
    ended = run(installed.parent, "doctor", IDP_PORT="many")

    assert (ended.returncode, ended.stdout) == (2, "")


@pytest.mark.promise("doctor: exit codes")
@pytest.mark.full  # what is left of its connection ends with its process
def test_a_store_that_is_away_ends_the_command_with_69_after_the_other_checks(installed):
    ended = program.run(
        installed.parent,
        *("doctor", "--json", "--store"),
        "mongodb://someone:hushhush@127.0.0.1:1/idp?replicaSet=rs0",
    )

    states = {each["id"]: each["state"] for each in json.loads(ended.stdout)["result"]}
    assert ended.returncode == 69
    assert (states["store.reach"], states["applications.pkce"]) == ("fail", "skipped")
    assert states["key.mode"] == "ok"
    assert "hushhush" not in ended.stdout + ended.stderr


def test_nothing_is_made_where_there_is_no_installation(tmp_path):
    ended = run(tmp_path, "doctor", "--data", "nothing-here")

    assert ended.returncode == 69
    assert list(tmp_path.iterdir()) == []


def test_the_report_is_plain_data(place):
    open_key(place)
    results = asyncio.run(examination.run(Config(data=str(place.data))))
    first = msgspec.json.decode(msgspec.json.encode(report.answer_of(results)))["result"][0]

    assert first == {
        "id": "key.mode",
        "state": "fail",
        "about": "Only its owner can read the master key.",
        "found": f"{place.data}/master.key is open to others (mode 0644)",
        "count": "0",
        "todo": "Restrict the file to its owner.",
        "commands": [f"chmod 600 {place.data}/master.key"],
    }


def test_a_link_that_leads_nowhere_is_no_file_of_another_user(place):
    (place.data / "dangling").symlink_to(place.data / "missing")

    assert place.find("data.owner").state == "ok"
