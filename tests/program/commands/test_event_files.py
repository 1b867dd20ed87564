"""The files that an export of events writes: whole lines, and another file when one is full."""

from __future__ import annotations

import errno
import os
from datetime import UTC, datetime

import pytest

from idp.cli.event_export import line_files
from idp.cli.event_export.line_files import LineFile
from idp.foundation.errors import AlreadyRunning, ConfigError
from tests.support.clock import SteppingClock

AT = datetime(2026, 3, 1, 12, 30, 15, 250_000, tzinfo=UTC)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "events.jsonl"


def opened(path, max_bytes=line_files.MAX_BYTES):
    return LineFile(path, SteppingClock(AT), max_bytes)


def stored(lines, *texts):
    for text in texts:
        lines.add(text)
        lines.store()


def test_lines_are_appended_to_a_file_that_its_group_may_read(path):
    lines = opened(path)
    stored(lines, b"1\n", b"2\n")
    lines.close()
    stored(opened(path), b"3\n")

    assert path.read_bytes() == b"1\n2\n3\n"
    assert path.stat().st_mode & 0o137 == 0


def files(path):
    return {each.name: each.read_bytes() for each in path.parent.iterdir()}


def test_after_a_full_file_another_begins_with_its_instant_in_the_name(path):
    lines = opened(path, max_bytes=8)
    stored(lines, b"111\n", b"222\n", b"333\n", b"444\n", b"5555555555\n", b"6\n")

    assert files(path) == {
        "events.jsonl": b"111\n222\n",
        "events-20260301T123015.250Z.jsonl": b"333\n444\n",
        "events-20260301T123015.251Z.jsonl": b"5555555555\n",
        "events-20260301T123015.252Z.jsonl": b"6\n",
    }


def test_a_later_export_goes_on_with_the_newest_file(path):
    newest = path.with_name("events-20260401T000000.000Z.jsonl")
    for name in (
        "events.jsonl",
        "events-20260228T000000.000Z.jsonl",
        "events-20260231T000000.000Z.jsonl",
    ):
        path.with_name(name).write_bytes(b"1\n")
    newest.write_bytes(b"2\n")
    stored(opened(path, max_bytes=6), b"3\n", b"44\n")

    assert newest.read_bytes() == b"2\n3\n"
    assert files(path)["events-20260401T000000.001Z.jsonl"] == b"44\n"
    assert len(files(path)) == 5


def test_an_incomplete_line_becomes_a_blank_one_and_the_file_no_shorter(path):
    path.write_bytes(b"1\n" + b"x" * 100_000)
    stored(opened(path), b"2\n")

    assert path.read_bytes() == b"1\n" + b" " * 100_000 + b"\n2\n"


def test_a_file_that_was_moved_or_removed_is_begun_again(path):
    lines = opened(path)
    stored(lines, b"1\n")
    path.rename(path.with_name("moved"))
    stored(lines, b"2\n")
    path.unlink()
    stored(lines, b"3\n")

    assert path.with_name("moved").read_bytes() == b"1\n"
    assert path.read_bytes() == b"3\n"


@pytest.mark.parametrize("written", [0, 2, 5])
def test_after_a_full_disk_it_goes_on_where_it_stopped(path, monkeypatch, written):
    lines, write, left = opened(path, max_bytes=12), os.write, [written]

    def limited(descriptor, data):
        if left and not left[0]:
            left.pop()
            raise OSError(errno.ENOSPC, "No space left on device")
        n = write(descriptor, data[: left[0]] if left else data)
        if left:
            left[0] -= n
        return n

    monkeypatch.setattr(line_files.os, "write", limited)
    lines.add(b"11\n22\n33\n")
    with pytest.raises(OSError, match="No space"):
        lines.store()
    lines.store()
    stored(lines, b"44\n55\n")

    (newer,) = path.parent.glob("events-*")
    assert path.read_bytes() == b"11\n22\n33\n"
    assert newer.read_bytes() == b"44\n55\n"


def test_a_file_that_another_export_writes_is_refused(path):
    first = opened(path)
    stored(first, b"1\n")
    with pytest.raises(AlreadyRunning, match=r"another export writes .*events\.jsonl"):
        stored(opened(path), b"2\n")
    first.close()
    stored(opened(path), b"2\n")

    assert path.read_bytes() == b"1\n2\n"


def test_only_a_regular_file_is_written(path):
    with pytest.raises(ConfigError, match="is not a file"):
        stored(opened(type(path)("/dev/null")), b"1\n")
