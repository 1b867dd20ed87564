"""`idp backup`, `idp restore` and `idp copy-store`, as typed."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from idp.cli import main
from idp.start import exit_codes
from tests.program.backups.backing_up import (
    CLOCK,
    PASSPHRASE,
    url,
    without_leases,
    write_passphrase,
)
from tests.support import invariants
from tests.support.programs.shell import Shell
from tests.support.service import make_hashes_cheap
from tests.support.store.backups import all_of, make_backups_cheap


@pytest.fixture(autouse=True)
def cheap(monkeypatch):
    make_backups_cheap(monkeypatch)


@pytest.fixture(scope="module")
def installation(tmp_path_factory):
    """Where an installation has been made."""
    with pytest.MonkeyPatch.context() as patched:
        make_hashes_cheap(patched)
        directory = tmp_path_factory.mktemp("installation")
        Shell(directory / "idp-data").install()
        return directory


@pytest.fixture
def directory(installation, tmp_path, monkeypatch):
    """A copy of it, where a file has the passphrase, and where commands are typed."""
    shutil.copytree(installation / "idp-data", tmp_path / "idp-data")
    write_passphrase(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(directory, *words, **settings):
    done = CliRunner().invoke(main, words, env=settings)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return SimpleNamespace(returncode=done.exit_code, stdout=done.stdout, stderr=done.stderr)


def idp(directory, *words, code=exit_codes.OK, **settings):
    """Run a command that has to end so, with the passphrase in the file `secret`."""
    asks = words[0] in ("backup", "restore") and "--passphrase-file" not in words
    more = ("--passphrase-file", "secret") if asks else ()
    ended = run(directory, *words, *more, **settings)
    assert ended.returncode == code, ended.stderr
    return ended


def stored(directory, data="idp-data"):
    return asyncio.run(all_of(url(directory, data), CLOCK))


@pytest.mark.full
def test_a_backup_is_one_file_that_only_its_owner_may_read_and_that_reveals_nothing(directory):
    ended = idp(directory, "backup", "made.idp")

    path = directory / "made.idp"
    assert path.stat().st_mode & 0o777 == 0o600
    assert re.fullmatch(r"made\.idp has \d+ records of \d+ collections\n", ended.stderr)
    assert ended.stdout == ""
    key = (directory / "idp-data" / "master.key").read_bytes().strip()
    octets = path.read_bytes()
    for canary in (PASSPHRASE.encode(), key, b"signing_keys", b"admin", b"localhost"):
        assert canary not in octets
    left = {each.name for each in directory.iterdir()}
    assert left == {"idp-data", "made.idp", "secret"}


@pytest.mark.full
def test_a_backup_is_restored_byte_for_byte(directory):
    before = stored(directory)
    idp(directory, "backup", "made.idp")

    ended = idp(directory, "restore", "made.idp", "--data", "other")

    assert without_leases(stored(directory, "other")) == without_leases(before)
    assert stored(directory, "other")[0] == before[0]
    old, new = (directory / data / "master.key" for data in ("idp-data", "other"))
    assert old.read_bytes() == new.read_bytes()
    assert new.stat().st_mode & 0o777 == 0o600
    assert new.parent.stat().st_mode & 0o777 == 0o700
    assert "--invalidate-tokens" in ended.stderr
    invariants.files_are_whole(url(directory, "other"))


def test_the_manifest_lists_what_is_in_it(directory):
    made = idp(directory, "backup", "made.idp", "--json").stdout
    told = json.loads(idp(directory, "backup", "verify", "made.idp", "--json").stdout)
    for_people = idp(directory, "backup", "verify", "made.idp")

    assert {"madeAt", "program", "schema", "records", "collections", "anchors"} == set(told)
    assert json.loads(made)["collections"] == told["collections"]
    assert told["records"] == sum(each["count"] for each in told["collections"].values())
    assert re.search(r"^users +2$", for_people.stdout, re.MULTILINE)
    assert "made.idp is whole" in for_people.stderr


def test_a_file_that_is_there_is_replaced_only_when_that_is_meant(directory):
    idp(directory, "backup", "made.idp")
    before = (directory / "made.idp").read_bytes()

    ended = idp(directory, "backup", "made.idp", code=exit_codes.CONFLICT)

    assert "--overwrite" in ended.stderr
    assert (directory / "made.idp").read_bytes() == before
    idp(directory, "backup", "make", "made.idp", "--overwrite")
    assert (directory / "made.idp").read_bytes() != before


def test_a_backup_that_fails_leaves_no_file(directory):
    (directory / "idp-data" / "master.key").unlink()

    ended = idp(directory, "backup", "made.idp", code=exit_codes.USAGE)

    assert "master key" in ended.stderr
    assert not list(directory.glob("*made*"))
    ended = idp(directory, "backup", "nowhere/made.idp", code=exit_codes.USAGE)


def test_where_there_is_no_installation_none_is_made_by_a_backup(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_passphrase(tmp_path)

    ended = idp(tmp_path, "backup", "made.idp", code=exit_codes.NOT_FOUND)

    assert "no installation" in ended.stderr
    assert [each.name for each in tmp_path.iterdir()] == ["secret"]


@pytest.mark.parametrize(
    ("text", "mode", "told"),
    [
        ("too short", 0o600, "12 to 4096"),
        ("x" * 5000, 0o600, "12 to 4096"),
        (PASSPHRASE, 0o644, "chmod 600"),
    ],
)
def test_a_passphrase_that_protects_nothing_is_refused(directory, text, mode, told):
    write_passphrase(directory, text, "weak").chmod(mode)

    words = ("backup", "made.idp", "--passphrase-file", "weak")
    ended = idp(directory, *words, code=exit_codes.USAGE)

    assert told in ended.stderr
    assert not (directory / "made.idp").exists()


def test_without_a_terminal_the_passphrase_has_to_be_in_a_file(directory):
    ended = run(directory, "backup", "made.idp")

    assert ended.returncode == exit_codes.USAGE
    assert "--passphrase-file" in ended.stderr


# What is refused writes nothing


@pytest.fixture
def made(directory):
    idp(directory, "backup", "made.idp")
    return directory


def refused(directory, *words, code, told):
    before = {each.name for each in directory.iterdir()}
    ended = idp(directory, "restore", *words, "--data", "other", code=code)
    assert told in ended.stderr
    assert {each.name for each in directory.iterdir()} == before


def test_a_wrong_passphrase_restores_nothing(made):
    write_passphrase(made, "another passphrase", "wrong")

    words = ("made.idp", "--passphrase-file", "wrong")
    refused(made, *words, code=exit_codes.FAILED, told="not the passphrase")


def test_a_damaged_or_truncated_backup_restores_nothing(made):
    whole = (made / "made.idp").read_bytes()
    for octets in (
        whole[:-1],
        whole[: len(whole) // 2],
        whole[:500] + bytes([whole[500] ^ 1]) + whole[501:],
        whole + b"\0",
        b"",
        b"not a backup at all",
    ):
        (made / "made.idp").write_bytes(octets)
        refused(made, "made.idp", code=exit_codes.FAILED, told="backup")


def test_what_is_not_there_or_no_file_is_reported(made):
    refused(made, "nothing.idp", code=exit_codes.NOT_FOUND, told="there is no file")
    refused(made, ".", code=exit_codes.USAGE, told="directory")


def test_a_store_that_is_in_use_is_left_alone(made):
    before = stored(made)

    ended = idp(made, "restore", "made.idp", code=exit_codes.CONFLICT)

    assert "not empty" in ended.stderr
    assert stored(made) == before


def test_another_master_key_is_not_replaced(made):
    other = made / "other"
    other.mkdir()
    key = other / "master.key"
    key.write_text("A" * 43 + "\n")
    key.chmod(0o600)

    ended = idp(made, "restore", "made.idp", "--data", "other", code=exit_codes.USAGE)

    assert "master key" in ended.stderr
    assert [each.name for each in other.iterdir()] == ["master.key"]
    assert key.read_text() == "A" * 43 + "\n"


@pytest.mark.full
def test_a_master_key_that_the_settings_name_is_not_written_anywhere(made):
    key = made / "idp-data" / "master.key"

    idp(made, "restore", "made.idp", "--data", "other", IDP_MASTER_KEY_FILE=str(key))

    assert not (made / "other" / "master.key").exists()


# Between back ends


async def test_one_grows_out_of_a_machine_and_back(directory, mongodb):
    before = await all_of(url(directory), CLOCK)
    copied = url(directory, "copied")
    (directory / "copied").mkdir()

    await asyncio.to_thread(idp, directory, "backup", "made.idp")
    words = ("restore", "made.idp", "--store", mongodb, "--data", "shared")
    await asyncio.to_thread(idp, directory, *words)
    words = ("copy-store", "--from", mongodb, "--to", copied)
    await asyncio.to_thread(idp, directory, *words)

    for each in (mongodb, copied):
        found = await all_of(each, CLOCK)
        assert without_leases(found) == without_leases(before)
        assert found[0] == before[0]
    assert [each.name for each in (directory / "shared").iterdir()] == ["master.key"]


@pytest.mark.full
def test_a_store_is_copied_into_an_empty_one_only(directory):
    words = ("copy-store", "--from", url(directory), "--to", url(directory, "other"))

    idp(directory, *words)  # which makes the directory
    assert (directory / "other").stat().st_mode & 0o777 == 0o700
    ended = idp(directory, *words, code=exit_codes.CONFLICT)

    assert "not empty" in ended.stderr
    assert without_leases(stored(directory, "other")) == without_leases(stored(directory))


@pytest.mark.parametrize("target", ["memory://", "nonsense://x"])
def test_a_store_is_copied_to_where_it_stays(directory, target):
    before = stored(directory)

    ended = run(directory, "copy-store", "--from", url(directory), "--to", target)

    assert ended.returncode != exit_codes.OK
    assert ended.stderr.startswith("idp: ")
    assert stored(directory) == before


def test_what_is_not_there_is_not_copied(tmp_path):
    words = ("copy-store", "--from", url(tmp_path), "--to", url(tmp_path, "other"))
    ended = idp(tmp_path, *words, code=exit_codes.NOT_FOUND)

    assert "no installation" in ended.stderr
    assert list(tmp_path.iterdir()) == []
