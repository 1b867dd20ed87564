"""The lock of a SQLite file tells which process holds it."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys

import pytest

from storage import blocks_writers
from storage.sqlite.locks import FileLock

# Takes the lock of the file that is named, says so, and holds it until its input ends.
HOLD = """
import fcntl, sys
file = open(sys.argv[1], "r+")
fcntl.flock(file, fcntl.LOCK_EX)
print(flush=True)
sys.stdin.read()
"""


@pytest.fixture
def lock(tmp_path):
    lock = FileLock(f"{tmp_path}/db.sqlite3-lock")
    yield lock
    lock.close()


@pytest.fixture
def hold():
    """Starts a process that holds the lock of a file; returns the process."""
    started = []

    def start(file):
        command = [sys.executable, "-S", "-c", HOLD, str(file)]
        options = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        started.append(subprocess.Popen(command, **options))
        started[-1].stdout.readline()
        return started[-1]

    yield start
    for process in started:
        process.communicate()


@pytest.mark.full
@pytest.mark.parametrize("name", ["db.sqlite3-lock", "db.sqlite3-lock-door"])
def test_who_holds_the_lock_or_its_door_blocks_writers_until_it_ends(lock, tmp_path, hold, name):
    url = f"sqlite:///{tmp_path}/db.sqlite3"
    holding = hold(tmp_path / name)

    assert blocks_writers(url, holding.pid)
    assert not blocks_writers(url, os.getpid())
    holding.communicate()
    assert not blocks_writers(url, holding.pid)


def test_who_has_the_files_open_and_holds_another_lock_blocks_nobody(lock, tmp_path):
    url = f"sqlite:///{tmp_path}/db.sqlite3"
    with (tmp_path / "another").open("w") as another:
        fcntl.flock(another, fcntl.LOCK_EX)
        before = blocks_writers(url, os.getpid())
        with lock.held():
            within = blocks_writers(url, os.getpid())

    assert (before, within) == (False, True)


def test_a_path_through_a_link_leads_to_the_same_lock(lock, tmp_path):
    (tmp_path / "link").symlink_to(tmp_path, target_is_directory=True)

    with lock.held():
        assert blocks_writers(f"sqlite:///{tmp_path}/link/db.sqlite3", os.getpid())


@pytest.mark.parametrize(
    "url", ["sqlite:////nowhere/db.sqlite3", "mongodb://db1/idp", "memory://"]
)
def test_where_there_is_no_such_lock_nobody_holds_it(url):
    assert not blocks_writers(url, os.getpid())
