"""Files with secrets: who else may read them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from idp.foundation import private_files
from idp.foundation.errors import AlreadyRunning, ConfigError

ROOT, OTHER = 0, 10001


def status(mode, owner):
    return os.stat_result((mode, 0, 0, 1, owner, owner, 0, 0, 0, 0))


@pytest.mark.parametrize("mode", [0o600, 0o400])
def test_a_file_of_its_owner_alone_is_private(mode):
    assert not private_files.is_open_to_others(status(mode, OTHER))


@pytest.mark.parametrize("mode", [0o640, 0o440, 0o620, 0o604, 0o644, 0o610])
def test_a_file_that_anybody_else_may_use_is_open(mode):
    assert private_files.is_open_to_others(status(mode, OTHER))


@pytest.mark.parametrize(
    ("mode", "user", "is_open"),
    [
        (0o440, OTHER, False),
        (0o640, OTHER, False),
        (0o460, OTHER, True),
        (0o444, OTHER, True),
        (0o440, ROOT, True),
    ],
)
def test_a_file_of_root_may_be_read_by_the_group_of_another_user(mode, user, is_open, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: user)

    assert private_files.is_open_to_others(status(mode, ROOT)) == is_open


def test_no_more_is_read_than_was_asked_for(tmp_path):
    path = tmp_path / "secret"
    path.touch(0o600)
    path.write_bytes(b"0123456789")

    assert private_files.read(path, "the secret", 4) == b"0123"


def test_a_refusal_names_what_the_file_is_for_and_a_command_for_any_path(tmp_path):
    path = tmp_path / "a secret"
    path.touch(0o644)
    path.chmod(0o644)

    with pytest.raises(ConfigError) as refused:
        private_files.read(path, "the secret", 4)

    assert refused.value.problems == (
        f"the secret {path} is open to others (mode 0644); run: chmod 600 '{path}'",
    )
    with pytest.raises(ConfigError, match="the secret none can't be read: No such file"):
        private_files.read(Path("none"), "the secret", 4)


def test_a_lock_is_held_once_and_released_at_the_end_of_its_block(tmp_path):
    path = tmp_path / "lock"
    with (
        private_files.locked(path, "it is in use", creates=True),
        pytest.raises(AlreadyRunning, match="it is in use"),
        private_files.locked(path, "it is in use"),
    ):
        pytest.fail("two blocks hold the lock")

    with private_files.locked(path, "it is in use"):
        assert path.stat().st_mode & 0o777 == 0o600


def test_an_operation_that_would_block_within_the_block_is_reported_as_such(tmp_path):
    with pytest.raises(BlockingIOError), private_files.locked(tmp_path, "it is in use"):
        raise BlockingIOError


def test_a_lock_file_is_created_only_on_request(tmp_path):
    with (
        pytest.raises(FileNotFoundError),
        private_files.locked(tmp_path / "lock", "it is in use"),
    ):
        pytest.fail("there is nothing to lock")

    assert not (tmp_path / "lock").exists()
