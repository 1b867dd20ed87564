"""Directories for what is too large to be held: one's own, and gone with their process."""

from __future__ import annotations

import fcntl
import tempfile

import pytest

from idp.transfer.package import scratch


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_a_directory_is_nobody_elses_and_gone_afterwards(temporary):
    with scratch.directory() as path:
        (path / "rows").write_text("x")
        with scratch.directory() as other:  # whoever comes meanwhile sweeps
            assert other != path
        assert (path / "rows").exists()
        assert path.stat().st_mode & 0o777 == 0o700

    assert [*temporary.iterdir()] == []


def test_what_a_killed_process_left_is_removed_by_the_next_one(temporary):
    left = temporary / "idp-scratch-left"
    left.mkdir()
    (left / "lock").touch()
    (left / "rows").write_text("x")

    with scratch.directory():
        assert not left.exists()


@pytest.mark.parametrize("is_done", [True, False], ids=["removed", "being removed"])
def test_a_directory_that_is_swept_before_its_lock_is_had_is_made_anew(
    temporary, monkeypatch, is_done
):
    """Another process may look between the making of a directory and its lock."""
    flock, sweeping, swept = fcntl.flock, [], []

    def sweep(lock, how):
        monkeypatch.setattr(fcntl, "flock", flock)
        (path,) = temporary.glob("idp-scratch-*")
        swept.append(path)
        if is_done:
            scratch._sweep()
        else:
            sweeping.append((path / "lock").open("rb"))
            flock(sweeping[0], how)
        flock(lock, how)

    monkeypatch.setattr(fcntl, "flock", sweep)

    with scratch.directory() as path:
        (path / "rows").write_text("x")

        assert [path] != swept
    for lock in sweeping:
        lock.close()
