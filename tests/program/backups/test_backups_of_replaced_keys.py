"""Backups from before, during and after a replacement of the master key, restored."""

from __future__ import annotations

import json

import pytest

from idp.start import exit_codes
from tests.support.programs.in_process import run
from tests.support.store.backups import make_backups_cheap


@pytest.fixture(autouse=True)
def cheap(monkeypatch):
    make_backups_cheap(monkeypatch)


@pytest.fixture
def directory(installed):
    """Where a service has been started, and stopped, and a passphrase is."""
    secret = installed.parent / "secret"
    secret.touch(0o600)
    secret.write_text("correct horse battery\n")
    return installed.parent


def idp(directory, *words, code=exit_codes.OK, **settings):
    passphrase = ("--passphrase-file", "secret") if words[0] != "keys" else ()
    ended = run(directory, *words, *passphrase, **settings)
    assert ended.returncode == code, ended.stderr
    return ended


def status(directory, data="idp-data", **settings):
    words = ("keys", "master", "status", "--json", "--data", data)
    return json.loads(idp(directory, *words, **settings).stdout)


def files(directory, data):
    return {each.name: each.read_bytes() for each in (directory / data).glob("master*")}


def test_a_backup_that_is_made_meanwhile_brings_both_keys(directory):
    idp(directory, "keys", "master", "rotate")
    idp(directory, "backup", "made.idp")

    idp(directory, "restore", "made.idp", "--data", "other")

    assert files(directory, "other") == files(directory, "idp-data")
    assert status(directory, "other") == status(directory)


def test_a_backup_from_before_is_restored_with_its_own_key(directory):
    former = files(directory, "idp-data")["master.key"]
    idp(directory, "backup", "made.idp")
    idp(directory, "keys", "master", "rotate")

    idp(directory, "restore", "made.idp", "--data", "other")

    assert files(directory, "other") == {"master.key": former}
    assert status(directory, "other")["former"] is None


def test_a_backup_from_before_is_restored_where_its_key_is_given_as_an_old_one(directory):
    before = status(directory)
    idp(directory, "backup", "made.idp")
    idp(directory, "keys", "master", "rotate")
    data = directory / "idp-data"
    settings = {
        "IDP_MASTER_KEY_FILE": str(data / "master.key"),
        "IDP_OLD_MASTER_KEY_FILES": str(data / "master.key.old"),
    }

    idp(directory, "restore", "made.idp", "--data", "other", **settings)

    assert files(directory, "other") == {}
    assert status(directory, "other", **settings)["inCharge"] == before["inCharge"]


@pytest.mark.parametrize("is_meanwhile", [False, True], ids=["before", "meanwhile"])
def test_without_the_keys_of_the_backup_a_restore_is_refused_and_says_what_to_give(
    directory, is_meanwhile
):
    if is_meanwhile:
        idp(directory, "keys", "master", "rotate")
    idp(directory, "backup", "made.idp")
    if not is_meanwhile:
        idp(directory, "keys", "master", "rotate")
    settings = {"IDP_MASTER_KEY_FILE": str(directory / "idp-data" / "master.key")}

    words = ("restore", "made.idp", "--data", "other")
    ended = idp(directory, *words, code=exit_codes.USAGE, **settings)

    assert "old_master_key_files" in ended.stderr
    assert not (directory / "other" / "idp.sqlite3").exists()


def test_the_whole_store_is_verified_with_both_keys_only(directory):
    idp(directory, "keys", "master", "rotate")
    assert run(directory, "store", "verify").returncode == exit_codes.OK

    (directory / "idp-data" / "master.key.old").unlink()

    ended = run(directory, "store", "verify")
    assert (ended.returncode, "old_master_key_files" in ended.stderr) == (exit_codes.USAGE, True)
    idp(directory, "backup", "made.idp", code=exit_codes.USAGE)
    assert not (directory / "made.idp").exists()
