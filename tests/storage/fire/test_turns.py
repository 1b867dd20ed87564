"""Processes on one SQLite file write in turns: neither starves, and nobody waits for long."""

from __future__ import annotations

import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

SECONDS = 2
LEAST_SHARE = 1 / 3
LONGEST_WAIT_SECONDS = 0.5  # 20 ms in turns; without them 800 to 3,000


def contest(file, *flags):
    """Commits and longest wait of each of two processes that write side by side."""
    words = [sys.executable, "-m", "tests.storage.fire.turns", f"sqlite:///{file}", f"{SECONDS}"]
    with ExitStack() as stack:
        rivals = [
            stack.enter_context(
                subprocess.Popen(
                    [*words, *flags],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                    cwd=Path(__file__).parents[3],
                )
            )
            for _ in range(2)
        ]
        assert [rival.stdout.readline() for rival in rivals] == ["ready\n"] * 2
        for rival in rivals:
            rival.stdin.write("go\n")
            rival.stdin.flush()
        said = [rival.stdout.readline().split() for rival in rivals]
    return [(int(commits), float(wait)) for commits, wait in said]


def is_even(found):
    commits = [number for number, _ in found]
    waits = [wait for _, wait in found]
    return min(commits) >= LEAST_SHARE * sum(commits) and max(waits) <= LONGEST_WAIT_SECONDS


@pytest.mark.load
def test_two_processes_on_a_slow_disk_commit_about_as_often(tmp_path, record_property):
    found = contest(tmp_path / "db.sqlite3")
    record_property("counts", f"commits and longest wait of each: {found}")

    assert is_even(found)


@pytest.mark.load
def test_without_turns_one_of_them_starves(tmp_path, record_property):
    """So the test above can fail."""
    found = contest(tmp_path / "db.sqlite3", "unlocked")
    record_property("counts", f"commits and longest wait of each: {found}")

    assert not is_even(found)


@pytest.mark.parametrize(
    ("found", "even"),
    [
        ([(100, 0.01), (100, 0.01)], True),
        ([(100, 0.01), (51, 0.02)], True),
        ([(100, 0.01), (40, 0.02)], False),
        ([(100, 0.01), (100, 3.1)], False),
    ],
)
def test_who_starves_or_waits_for_long_is_noticed(found, even):
    assert is_even(found) is even
