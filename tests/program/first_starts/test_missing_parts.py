"""A store without its key, a key without its store: nothing is made in their place."""

from __future__ import annotations

from pathlib import Path

import pytest

from idp.foundation import base64url
from tests.support.programs import program
from tests.support.programs.in_process import run, started

SERVE = ("serve", "--json", "--port", "0")
RESET = ("admin", "reset-password", "admin@localhost")
SEVERAL = (*SERVE, "--processes", "2")
COMMANDS = [SERVE, pytest.param(SEVERAL, marks=pytest.mark.full), RESET]


def run_command(directory, *command):
    """Runs a command in this process, unless it forks."""
    return (program.run if command == SEVERAL else run)(directory, *command)


def names(directory: Path) -> set[str]:
    """Every file and directory in it."""
    return {str(path.relative_to(directory)) for path in directory.rglob("*")}


@pytest.mark.parametrize(
    ("flags", "named"),
    [
        (("--data", "tpyo"), "/tpyo/idp.sqlite3"),
        (("--data", "idp-data/deep/er"), "/idp-data/deep/er/idp.sqlite3"),
        (("--store", "sqlite:///idp-data/other.sqlite3"), "/idp-data/other.sqlite3"),
        (("--store", "memory://"), "memory://"),
    ],
)
def test_a_reset_in_the_wrong_place_makes_nothing(installed, tmp_path, flags, named):
    before = names(tmp_path)
    ran = run(tmp_path, *RESET, *flags)

    assert (ran.returncode, ran.stdout) == (5, "")
    assert "there is no installation in " in ran.stderr
    assert named in ran.stderr
    assert len(ran.stderr.splitlines()) == 1
    assert names(tmp_path) == before


def test_a_reset_on_a_store_that_was_never_set_up_makes_no_key(tmp_path):
    (tmp_path / "empty.sqlite3").touch(0o600)
    ran = run(tmp_path, *RESET, "--store", "sqlite:///empty.sqlite3")

    assert ran.returncode == 5
    assert "there is no installation in " in ran.stderr
    assert not (tmp_path / "idp-data").exists()


@pytest.mark.parametrize("command", COMMANDS)
def test_a_store_whose_key_is_gone_gets_no_other(installed, tmp_path, command):
    (installed / "master.key").rename(tmp_path / "elsewhere")
    ran = run_command(tmp_path, *command)

    assert (ran.returncode, ran.stdout) == (2, "")
    assert "the master key idp-data/master.key is missing" in ran.stderr
    assert "restore idp-data/master.key" in ran.stderr
    assert "master_key_file" in ran.stderr
    assert "Traceback" not in ran.stderr
    assert not (installed / "master.key").exists()
    (tmp_path / "elsewhere").rename(installed / "master.key")
    assert started(tmp_path).announcement["admin"]["password"]


def test_a_key_that_lies_elsewhere_will_do(installed, tmp_path):
    (installed / "master.key").rename(tmp_path / "elsewhere")
    ran = run(tmp_path, *RESET, IDP_MASTER_KEY_FILE="elsewhere")

    assert (ran.returncode, ran.stderr) == (0, "")
    assert not (installed / "master.key").exists()


@pytest.mark.parametrize("command", COMMANDS)
def test_another_services_key_is_refused(installed, tmp_path, command):
    (installed / "master.key").write_text(base64url.encode(bytes(range(32))))
    ran = run_command(tmp_path, *command)

    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.count("the store was made with another master key") == 1
    assert "master_key_file" in ran.stderr
    assert "Traceback" not in ran.stderr
