"""Files with secrets: who else may read them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from idp.foundation import private_files
from idp.foundation.errors import ConfigError

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
