"""Log lines that repeat many times a second."""

from __future__ import annotations

import io
import logging
from collections import Counter

import pytest

from idp.foundation import log_repetition, logs
from idp.foundation.log_repetition import LIMIT, Repetitions

KIND = ("idp.a", "info", "it happened")
OTHER = ("idp.a", "info", "it happened elsewhere")


class Time:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def time():
    return Time()


@pytest.fixture
def repetitions(time):
    return Repetitions(time)


def admitted(repetitions, count, kind=KIND):
    return [repetitions.admit(kind) for _ in range(count)]


def test_twenty_lines_a_second_are_written_and_the_others_held_back(repetitions):
    assert admitted(repetitions, LIMIT + 3) == [0] * LIMIT + [None] * 3


def test_other_lines_are_written_meanwhile(repetitions):
    admitted(repetitions, 100)

    assert admitted(repetitions, 2, OTHER) == [0, 0]


def test_a_flood_leaves_one_line_a_second_with_the_number_held_back(repetitions, time):
    admitted(repetitions, 100)
    time.now += 1
    second = admitted(repetitions, 50)
    time.now += 1
    third = admitted(repetitions, 5)
    time.now += 1

    assert second == [80] + [None] * 49
    assert third == [49] + [None] * 4
    assert admitted(repetitions, 3) == [4, 0, 0]  # the flood was over in the third second


def test_lines_that_nobody_follows_are_reported_once(repetitions, time):
    admitted(repetitions, 30)
    before = list(repetitions.take_ended())
    time.now += 1

    assert before == []
    assert list(repetitions.take_ended()) == [(KIND, 10)]
    assert list(repetitions.take_ended()) == []


def test_many_kinds_of_lines_take_bounded_memory(repetitions):
    for n in range(5000):
        assert repetitions.admit(("idp.a", "info", str(n))) == 0

    assert len(repetitions._windows) <= 1000


def test_the_log_counts_what_it_held_back(monkeypatch, time, lines, counted):
    monkeypatch.setattr(logs, "_repetitions", Repetitions(time))
    monkeypatch.setattr(logs._output, "lines", Counter())
    for n in range(50):
        logs.logger("idp.a").info("it happened", n=n)
        logs.access("GET", "/", 200, 0.1, address="192.0.2.1")
    time.now += log_repetition.WINDOW_SECONDS
    logs.report_repetitions()
    happened = [line for line in lines() if line["event"] == "it happened"]

    assert sum(line["event"] == "request" for line in lines()) == 50
    assert [line.get("n") for line in happened] == [*range(LIMIT), None]
    assert (happened[-1]["repeated"], happened[-1]["logger"]) == (30, "idp.a")
    assert counted("log_lines_total", level="info") == LIMIT + 50
    assert counted("log_lines_suppressed_total") == 30


def test_lines_of_a_library_repeat_whatever_their_arguments_are(monkeypatch, time, lines):
    monkeypatch.setattr(logs, "_repetitions", Repetitions(time))
    for n in range(50):
        logging.getLogger("tornado.general").warning("SSL Error on %s", n)
    time.now += log_repetition.WINDOW_SECONDS
    logs.report_repetitions()

    assert [line["event"] for line in lines()[:2]] == ["SSL Error on 0", "SSL Error on 1"]
    assert [line.get("repeated") for line in lines()] == [*[None] * LIMIT, 30]


class FullDisk(io.StringIO):
    def write(self, text):
        raise OSError("no space left")


def test_a_report_that_cannot_be_written_ends_nothing(monkeypatch, time, stream, capfd):
    logs.configure("info", "json", stream=FullDisk())
    monkeypatch.setattr(logs, "_repetitions", Repetitions(time))
    for _ in range(50):
        logs.logger("idp.a").info("it happened")
    time.now += log_repetition.WINDOW_SECONDS
    logs.report_repetitions()

    assert capfd.readouterr().err.count("a log line was lost: OSError") == LIMIT + 1
