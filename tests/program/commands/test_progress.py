"""How far work has come is told to people at a terminal, and now and then to logs."""

from __future__ import annotations

import io

import pytest

from idp.cli import progress
from idp.cli.progress import Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def now(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    return clock


def test_a_terminal_gets_a_bar():
    terminal = Terminal()
    shown = Progress("rows", terminal)
    shown.show(0, 0)
    assert terminal.getvalue() == ""
    shown.show(3, 10)
    shown.close()

    assert "3/10" in terminal.getvalue()
    assert "rows/s" in terminal.getvalue()


def test_elsewhere_a_line_comes_every_five_seconds(now):
    stream = io.StringIO()
    shown = Progress("rows", stream)
    for second in range(12):
        now[0] = float(second)
        shown.show(100 * second, 10_000)
    shown.close()

    assert stream.getvalue().splitlines() == [
        "500 of 10,000 rows, 100 a second, 95 s left",
        "1,000 of 10,000 rows, 100 a second, 90 s left",
    ]
