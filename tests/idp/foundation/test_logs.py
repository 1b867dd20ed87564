"""One line for each event, whoever writes it and whatever it is given."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import subprocess
import sys
import threading

import pytest

from idp.foundation import logs, redaction
from tests.idp.conftest import NOW
from tests.support import patience
from tests.support.clock import SteppingClock
from tests.support.random import SeededRandom

log = logs.logger("idp.test")


def test_a_line_is_one_json_object_with_time_level_event_and_fields(stream, lines):
    log.info("user signed in", user_id="u-1", tries=2, is_new=False, left=None, share=0.5)

    assert lines() == [
        {
            "time": "2026-03-04T05:06:07.089Z",
            "level": "info",
            "event": "user signed in",
            "logger": "idp.test",
            "user_id": "u-1",
            "tries": 2,
            "is_new": False,
            "left": None,
            "share": 0.5,
        }
    ]
    assert list(lines()[0])[:3] == ["time", "level", "event"]


def test_levels_below_the_configured_one_are_left_out(stream, lines):
    logs.configure("warning", "json", stream=stream)

    log.debug("a")
    log.info("b")
    log.warning("c")
    log.error("d")
    logging.getLogger("tornado.general").info("e")
    logging.getLogger("tornado.general").critical("f")

    assert [(each["event"], each["level"]) for each in lines()] == [
        ("c", "warning"),
        ("d", "error"),
        ("f", "critical"),
    ]


def test_reserved_names_can_not_be_forged_by_fields(stream, lines):
    fields = {"time": "forged", "level": "forged", "event": "forged", "fields": 1, "self": 2}

    log.info("real", **fields)

    (line,) = lines()
    assert (line["event"], line["level"], line["time"][:4]) == ("real", "info", "2026")
    assert (line["fields"], line["self"]) == (1, 2)


def test_the_request_id_comes_along_and_ends_with_the_request(stream, lines):
    logs.begin_request("r-1")
    log.info("a")
    logging.getLogger("tornado.general").warning("b")
    logs.begin_request("r-2")
    log.info("c")

    assert [each["request_id"] for each in lines()] == ["r-1", "r-1", "r-2"]


@pytest.mark.parametrize(
    ("header", "trace"),
    [
        (
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "0af7651916cd43dd8448eb211c80319c",
        ),
        (
            "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x",
            "0af7651916cd43dd8448eb211c80319c",
        ),
        ("00-00000000000000000000000000000000-b7ad6b7169203331-01", None),
        ("00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01", None),
        ("ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", None),
        ("00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", None),
        ("x\ny", None),
        ("", None),
        (None, None),
    ],
)
def test_the_trace_of_a_request_comes_along_when_it_is_one(stream, lines, header, trace):
    logs.begin_request("r-1", header)
    log.info("here")

    assert lines()[0].get("trace_id") == trace


def test_requests_that_run_at_once_keep_their_own_ids(stream, lines):
    async def request(id):
        logs.begin_request(id)
        await asyncio.sleep(0)
        log.info("x", expected=id)

    async def main():
        await asyncio.gather(*[asyncio.create_task(request(f"r-{n}")) for n in range(20)])

    asyncio.run(main())

    assert len(lines()) == 20
    assert all(each["request_id"] == each["expected"] for each in lines())


@pytest.mark.parametrize("header", ["a", "A-Z_09.x", "x" * 64])
def test_a_harmless_request_id_is_accepted(header):
    assert logs.accept_request_id(header, SeededRandom()) == header


@pytest.mark.parametrize(
    "header",
    [None, "", "x" * 65, "a b", "a\n", "é", "１", "a/b", "a,b", "<b>", "a;b", "a-Secret" * 6],
)
def test_any_other_request_id_is_replaced(header):
    fresh = logs.accept_request_id(header, SeededRandom())

    assert fresh != header
    assert len(fresh) == 22


def test_an_access_line_has_the_request_without_its_query(stream, lines):
    logs.access(
        "GET", "/oauth/v2/authorize?login_hint=canary", 302, 0.01234, address="::1", user_id="u"
    )
    logs.access("POST", "/oauth/v2/token", 503, 2.0, address="::1")

    first, second = lines()
    assert first["logger"] == "idp.access"  # the name that operators filter by
    assert first["path"] == "/oauth/v2/authorize"
    assert (first["method"], first["status"], first["milliseconds"]) == ("GET", 302, 12.3)
    assert (first["level"], second["level"]) == ("info", "warning")
    assert "canary" not in stream.getvalue()


def test_an_exception_brings_its_traceback_on_the_same_line(stream, lines):
    def fails():
        raise ValueError("wrong\n{} in the middle")

    try:
        fails()
    except ValueError as error:
        log.error("by value", exc_info=error)
        log.error("by flag", exc_info=True)
        logging.getLogger("asyncio").exception("by the standard library")

    assert [each["event"] for each in lines()] == [
        "by value",
        "by flag",
        "by the standard library",
    ]
    for line in lines():
        assert "in fails" in line["exception"]
        assert "ValueError: wrong" in line["exception"]


def test_a_long_traceback_keeps_its_end(stream, lines):
    log.error("x", exc_info=ValueError("a" * 20_000 + "the end"))

    assert lines()[0]["exception"].endswith("the end")
    assert len(lines()[0]["exception"]) == redaction.MAX_TRACEBACK


def test_text_for_a_terminal_is_readable(stream):
    logs.configure("info", "text", clock=SteppingClock(NOW), stream=stream)

    log.info("user signed in", user_id="u-1", display="Ann B", tries=2)
    log.error("x", exc_info=ValueError("y"))

    first, second, third = stream.getvalue().splitlines()
    assert first.startswith("05:06:07.089Z info    user signed in  logger=idp.test  user_id=u-1")
    assert first.endswith('display="Ann B"  tries=2')
    assert (second[14:22], third) == ("error   ", "    ValueError: y")


@pytest.mark.parametrize(("is_terminal", "first"), [(True, "0"), (False, "{")])
def test_the_format_follows_the_terminal_unless_it_is_set(stream, is_terminal, first):
    stream.isatty = lambda: is_terminal

    logs.configure("info", "auto", clock=SteppingClock(NOW), stream=stream)
    log.info("x")

    assert stream.getvalue()[0] == first


def test_configuring_again_doubles_no_line(stream, lines):
    logs.configure("info", "json", stream=stream)
    logs.configure("info", "json", stream=stream)

    logging.getLogger("tornado.access").warning("once")

    assert len(lines()) == 1


class Hostile:
    def __str__(self):
        raise RuntimeError("no text")

    __repr__ = __str__


class HostileError(Exception):
    __str__ = Hostile.__str__


class HostileKeys(dict):
    def items(self):
        raise RuntimeError("no items")


@pytest.mark.parametrize(
    "fields",
    [
        {"value": Hostile()},
        {"error": HostileError()},
        {"keys_of": HostileKeys(a=1)},
        {"exc_info": HostileError()},
        {"exc_info": (None, None, None)},
        {"exc_info": True},
        {"exc_info": "nonsense"},
        {"map": {Hostile(): 1}},
        {"method_name": 1, "logger": Hostile()},
        {"a" * 10_000: 1},
    ],
)
def test_logging_never_raises_whatever_it_is_given(stream, capfd, fields):
    log.info("x", **fields)

    assert len(stream.getvalue().splitlines()) + len(capfd.readouterr().err.splitlines()) == 1


def test_logging_never_raises_for_the_standard_library_either(stream, lines):
    ours = logs._Standard()
    for level, said, args in [
        (30, "%s and %s", ("one",)),
        (30, Hostile(), ()),
        (30, "%s", (Hostile(),)),
        (35, "between", ()),
        (5, "below", ()),
    ]:
        ours.handle(logging.LogRecord("x", level, "", 0, said, args, None))

    assert [(each["event"], each["level"]) for each in lines()] == [
        ("%s and %s", "warning"),
        ("<Hostile>", "warning"),
        ("%s", "warning"),
        ("between", "warning"),
    ]


def test_logging_never_raises_when_nothing_can_be_written(stream, capfd):
    stream.close()

    log.error("x")
    logging.getLogger("x").error("y")

    assert capfd.readouterr().err == "a log line was lost: ValueError\n" * 2


@pytest.mark.usefixtures("stream")  # which restores the logging
def test_what_is_logged_while_a_line_is_written_is_written_too():
    """The garbage collector may run there, and what it ends may log something."""

    class Stream(io.StringIO):
        def write(self, text):
            if not self.getvalue():
                super().write("\n")
                log.error("inner")
            return super().write(text)

    stream = Stream()
    logs.configure("info", "json", stream=stream)
    thread = threading.Thread(target=log.error, args=["outer"], daemon=True)
    thread.start()
    thread.join(patience.SECONDS)

    assert [json.loads(line)["event"] for line in stream.getvalue().split()] == ["inner", "outer"]


@pytest.mark.full
def test_before_it_is_configured_only_warnings_are_written_to_stderr():
    code = (
        "from idp.foundation import logs; log = logs.logger('a');"
        "log.info('unseen'); log.warning('seen');"
        "logs.configure('info', 'json'); log.info('now')"
    )

    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    first, second = ran.stderr.splitlines()
    assert ran.stdout == ""
    assert "seen" in first
    assert json.loads(second)["event"] == "now"
