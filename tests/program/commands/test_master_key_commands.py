"""`idp keys master`, as typed."""

from __future__ import annotations

import json

import pytest

from idp.start import exit_codes
from tests.support.programs.in_process import run, started


@pytest.fixture
def directory(installed):
    """Where a service has been started, and stopped."""
    return installed.parent


def master(directory, *words, code=exit_codes.OK, **settings):
    ended = run(directory, "keys", "master", *words, **settings)
    assert ended.returncode == code, ended.stderr
    return ended


def status(directory, **settings):
    return json.loads(master(directory, "status", "--json", **settings).stdout)


def keys_of(directory) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in (directory / "idp-data").glob("master*")}


def test_the_status_shows_the_key_in_charge_and_changes_nothing(directory):
    before = keys_of(directory)

    found = status(directory)

    assert found.keys() == {"inCharge", "former", "beginsAt", "replaced", "counts"}
    assert (found["former"], found["replaced"], found["counts"]) == (None, [], {})
    assert found["inCharge"] in master(directory, "status").stdout
    assert "to re-encrypt     nothing" in master(directory, "status").stdout
    assert keys_of(directory) == before


def test_a_rotation_makes_a_new_key_in_the_data_directory_and_keeps_the_former_one(directory):
    before, former = keys_of(directory), status(directory)

    ended = master(directory, "rotate")

    after = keys_of(directory)
    assert after["master.key.old"] == before["master.key"] != after["master.key"]
    assert (ended.stdout, "idp keys master status" in ended.stderr) == ("", True)
    found = status(directory)
    assert found["former"] == former["inCharge"] != found["inCharge"]
    assert found["counts"]["signing_keys"] == 4
    assert f"from {found['beginsAt'][:10]}" in master(directory, "status").stdout
    assert started(directory).announcement


def test_a_second_rotation_is_refused_and_changes_no_file(directory):
    master(directory, "rotate")
    before = keys_of(directory)

    ended = master(directory, "rotate", code=exit_codes.CONFLICT)

    assert "is being replaced already" in ended.stderr
    assert keys_of(directory) == before


def test_without_the_former_key_the_service_does_not_start(directory):
    master(directory, "rotate")
    (directory / "idp-data" / "master.key.old").unlink()

    ended = run(directory, "serve")

    assert ended.returncode == exit_codes.USAGE
    assert "master.key.old" in ended.stderr


@pytest.fixture
def named(directory):
    """The settings of an installation whose key is elsewhere."""
    (directory / "idp-data" / "master.key").rename(directory / "key")
    return {"IDP_MASTER_KEY_FILE": "key"}


def test_where_settings_name_the_key_a_new_one_is_made_in_a_file_and_nothing_changes(
    directory, named
):
    before = status(directory, **named)

    ended = master(directory, "rotate", "--to", "new", **named)

    assert (directory / "new").stat().st_mode & 0o777 == 0o600
    assert "old_master_key_files" in ended.stderr
    assert (directory / "new").read_text().strip() not in ended.stdout + ended.stderr
    assert status(directory, **named) == before
    assert status(directory, **named, IDP_OLD_MASTER_KEY_FILES="new") == before
    changed = {"IDP_MASTER_KEY_FILE": "new", "IDP_OLD_MASTER_KEY_FILES": "key"}
    assert status(directory, **changed) == before


def test_a_file_that_is_there_is_never_overwritten(directory, named):
    before = (directory / "key").read_bytes()

    ended = master(directory, "rotate", "--to", "key", code=exit_codes.CONFLICT, **named)
    missing = master(directory, "rotate", "--to", "no/key", code=exit_codes.USAGE, **named)

    assert "exists already" in ended.stderr
    assert "can't be written" in missing.stderr
    assert (directory / "key").read_bytes() == before


def test_a_file_is_asked_for_where_it_is_needed_and_refused_where_it_is_not(directory):
    ended = master(directory, "rotate", "--to", "new", code=exit_codes.USAGE)
    assert "leave out --to" in ended.stderr
    assert not (directory / "new").exists()

    (directory / "idp-data" / "master.key").rename(directory / "key")
    named = {"IDP_MASTER_KEY_FILE": "key"}
    ended = master(directory, "rotate", code=exit_codes.USAGE, **named)
    assert "--to FILE" in ended.stderr
