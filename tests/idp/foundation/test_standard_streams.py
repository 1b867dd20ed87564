"""Writes to a stderr that nothing reads: none waits for long, and what was lost is counted."""

from __future__ import annotations

import os
import socket
import time
from contextlib import closing, suppress

import pytest

from idp.foundation import standard_streams

LINE = "x" * 299 + "\n"
WAIT_SECONDS = standard_streams._WAIT_SECONDS


def pipe():
    return os.pipe()


def connection():
    own_end, other_end = socket.socketpair()
    return own_end.detach(), other_end.detach()


class Stderr:
    """A stderr that a program reads at the descriptor `own_end`."""

    def __init__(self, own_end, other_end, monkeypatch):
        monkeypatch.setattr(standard_streams, "_STDERR", other_end)
        self._stream = standard_streams._lossy_stderr()
        self._raw, self._own_end = self._stream.buffer.raw, own_end
        self._raw.limit_waits()

    def write(self, text):
        self._stream.write(text)

    @property
    def lost(self):
        return self._raw.lost

    def write_until_lost(self):
        """How many lines were written before one was lost."""
        for number in range(100_000):
            self.write(LINE)
            if self.lost:
                return number
        raise AssertionError("there is always room")

    def read(self):
        """All that waits to be read."""
        found = b""
        with suppress(BlockingIOError):
            while part := os.read(self._own_end, 65536):
                found += part
        return found.decode()

    def close(self):
        self._stream.close()


@pytest.fixture(params=[pipe, connection])
def ends(request):
    own_end, other_end = request.param()
    os.set_blocking(own_end, False)
    yield own_end, other_end
    os.close(own_end)
    os.close(other_end)


@pytest.fixture
def stderr(ends, monkeypatch):
    with closing(Stderr(*ends, monkeypatch)) as made:
        yield made


@pytest.mark.load
def test_while_nothing_reads_one_write_waits_and_the_next_ones_are_lost_at_once(stderr):
    began = time.monotonic()
    stderr.write_until_lost()
    first = time.monotonic() - began
    began = time.monotonic()
    for _ in range(100):
        stderr.write(LINE)
    took = time.monotonic() - began

    assert first >= WAIT_SECONDS
    assert took < 100 * WAIT_SECONDS / 2
    assert stderr.lost == 101


@pytest.mark.full
def test_what_is_written_once_it_is_read_again_arrives_in_whole_lines(stderr):
    written = stderr.write_until_lost()
    stderr.write("lost" * len(LINE) + "\n")
    before = stderr.read()
    stderr.write("after\n")
    after = stderr.read()

    assert before.splitlines(keepends=True)[:written] == [LINE] * written
    assert after.splitlines()[-1] == "after"
    assert "lost" not in before + after
    assert stderr.lost == 2


@pytest.mark.full
def test_a_line_that_was_written_in_part_is_ended_before_the_next_one(stderr):
    stderr.write("y" * 3_000_000 + "\n")
    before = stderr.read()
    stderr.write("after\n")

    assert set(before) == {"y"}
    assert stderr.read() == "\nafter\n"


@pytest.mark.load
def test_lines_for_a_program_that_has_ended_are_lost_without_a_wait(stderr, ends):
    with open(os.devnull) as nothing:
        os.dup2(nothing.fileno(), ends[0])  # which closes the end that is read
    began = time.monotonic()
    stderr.write(LINE)

    assert time.monotonic() - began < WAIT_SECONDS
    assert stderr.lost == 0


def test_a_file_is_written_as_before(tmp_path, monkeypatch):
    with (
        (tmp_path / "log").open("w") as file,
        closing(Stderr(-1, file.fileno(), monkeypatch)) as stderr,
    ):
        for _ in range(10_000):
            stderr.write(LINE)

    assert (tmp_path / "log").read_text() == LINE * 10_000
    assert stderr.lost == 0
