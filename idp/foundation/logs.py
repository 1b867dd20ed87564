"""Logs: one JSON object a line on stderr (text on a terminal), without secrets. Logging never
raises.

`logger(__name__).info("sign-in refused", user_id=…, reason=…)`: the event is a constant sentence,
everything variable is in fields. An event that occurs more than 20 times a second is then written
once a second, with the number of its lines that were held back (`repeated`). Values that must not
be logged are replaced by `idp/foundation/redaction.py`. The request's id is added automatically
after `begin_request`. Records of the standard library's loggers (Tornado's, asyncio's) are written
in the same way.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import sys
import threading
import traceback
from collections import Counter
from collections.abc import Mapping
from contextvars import ContextVar
from types import MappingProxyType
from typing import Final, TextIO

import msgspec

from idp.foundation import log_repetition, metrics, redaction, standard_streams
from idp.foundation.clock import Clock, SystemClock
from idp.foundation.log_repetition import Repetitions
from idp.foundation.randomness import Random
from storage.codec import instant_text

LEVELS: Final = {"debug": 10, "info": 20, "warning": 30, "error": 40, "critical": 50}
_TRACE: Final = re.compile(
    r"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}"
)
_REQUEST_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")


class LogOutput:
    """The destination and the format of lines. There is one per process, which `configure`
    sets."""

    def __init__(self) -> None:
        self.level = LEVELS["warning"]
        self.is_json = False
        self.clock: Clock = SystemClock()
        self.stream: TextIO | None = None
        self.process: Mapping[str, object] = {}
        self.lines: Counter[str] = Counter()  # by level, since the last report
        # Reentrant: the garbage collector may run while a line is written, and what it ends may
        # log something in the same thread.
        self._lock = threading.RLock()

    def write(self, fields: Mapping[str, object]) -> None:
        """Writes one line with these fields."""
        line = _json(fields) if self.is_json else _text(fields)
        stream = self.stream or sys.stderr
        with self._lock:
            stream.write(line + "\n")
            stream.flush()


_SUPPRESSED: Final = "suppressed"
_ACCESS: Final = "idp.access"
_output: Final = LogOutput()
_repetitions: Final = Repetitions()


# The fields of every line of the current request, as they are written.
_bound: Final[ContextVar[Mapping[str, object]]] = ContextVar(
    "log fields", default=MappingProxyType({})
)


class Logger:
    """Writes events with fields. No method raises, whatever its arguments are."""

    def __init__(self, name: str) -> None:
        self._name = name

    def debug(self, event: str, /, **fields: object) -> None:
        """Logs an event that is useful to developers of the program."""
        self.log("debug", event, fields)

    def info(self, event: str, /, **fields: object) -> None:
        """Logs an event that an operator may want to find later."""
        self.log("info", event, fields)

    def warning(self, event: str, /, **fields: object) -> None:
        """Logs an irregularity that the service handles."""
        self.log("warning", event, fields)

    def error(self, event: str, /, **fields: object) -> None:
        """Logs a failure that an operator has to examine; `exc_info=error` adds the traceback."""
        self.log("error", event, fields)

    def log(
        self,
        level: str,
        event: str,
        fields: Mapping[str, object],
        *,
        kind: str | None = None,
        limit: int = log_repetition.LIMIT,
    ) -> None:
        """Logs an event at a level that is only known at run time.

        Events with the same `kind` count as repetitions of each other; without it, events with the
        same text do. `limit` is how many of them are written in a second before only one is.
        """
        if LEVELS[level] < _output.level:
            return
        try:
            held_lines = _repetitions.admit((self._name, level, kind or event), limit)
            if held_lines is None:
                _output.lines[_SUPPRESSED] += 1
                return
            _output.lines[level] += 1
            repetition_field = {"repeated": held_lines} if held_lines else {}
            _output.write(_rendered_line(self._name, level, event, {**fields, **repetition_field}))
        except Exception as error:  # a failure to log must not fail the caller
            _last_resort(error)


def report_repetitions() -> None:
    """Logs how many lines were left out and counts all lines; is to be called every second.

    For each event whose repeated lines were held back and that no longer occurs, it writes one
    line with their number; and one line with the number of lines that were lost because nothing
    read stderr.
    """
    _count_lines()
    lost_lines = standard_streams.take_lost()
    if lost_lines:
        logger(__name__).warning("log lines were lost: nothing has read stderr", lines=lost_lines)
    for (name, level, event), held_lines in _repetitions.take_ended():
        try:
            _output.write(_rendered_line(name, level, event, {"repeated": held_lines}))
        except Exception as error:  # the next report may succeed
            _last_resort(error)


def _count_lines() -> None:
    """Counts the lines since the last call in the metrics.

    A line must not be counted where it is logged: if the garbage collector runs while a metric is
    locked, and something logs there, the thread would wait for itself.
    """
    lines, _output.lines = _output.lines, Counter()
    metrics.LOG_LINES_SUPPRESSED.count(by=lines.pop(_SUPPRESSED, 0))
    for level, number in lines.items():
        metrics.LOG_LINES.count(level, by=number)


def logger(name: str) -> Logger:
    """Returns the logger of a module; `name` is its `__name__`."""
    return Logger(name)


def configure(
    level: str = "info",
    line_format: str = "auto",
    *,
    clock: Clock | None = None,
    stream: TextIO | None = None,
) -> None:
    """Sets what is logged, how and where, also for the standard library's loggers; may be called
    again.

    `line_format` is json, text or auto: text on a terminal. Without `stream`, each line goes to
    the current stderr.
    """
    _repetitions.clear()
    _output.stream = stream
    _output.clock = clock or SystemClock()
    _output.is_json = line_format == "json" or (
        line_format == "auto" and not (stream or sys.stderr).isatty()
    )
    root = logging.getLogger()
    for handler in [each for each in root.handlers if isinstance(each, _Standard)]:
        root.removeHandler(handler)
    root.addHandler(_Standard())
    set_level(level)


def is_json() -> bool:
    """Returns whether the lines of the log are JSON."""
    return _output.is_json


def set_level(level: str) -> None:
    """Sets the level from which lines are written, of the standard library's loggers, too."""
    _output.level = LEVELS[level]
    logging.getLogger().setLevel(_output.level)


def new_request_id(random: Random) -> str:
    """Returns an id by which a request is found in the logs of every process."""
    return random.id()


def accept_request_id(header: str | None, random: Random) -> str:
    """Returns the caller's own request id, `header`, if it can be one (`is_request_id`); else a
    new one."""
    is_accepted = header is not None and is_request_id(header) and redaction.text(header) == header
    return header if header and is_accepted else new_request_id(random)


def is_request_id(text: str) -> bool:
    """Returns whether the text can be a request's id."""
    return _REQUEST_ID.fullmatch(text) is not None


def begin_request(request_id: str, traceparent: str | None = None) -> None:
    """Adds the request's id to every line that this task logs from now on, and removes fields of
    an earlier request.

    `traceparent` is the header of that name (W3C Trace Context), whose trace id is added too.
    """
    trace = _TRACE.match(traceparent) if traceparent else None
    _bound.set({"request_id": request_id, **({"trace_id": trace[1]} if trace else {})})


def bind(**fields: object) -> None:
    """Adds fields, such as the id of the client, to every further line of the request."""
    _bound.set({**_bound.get(), **redaction.fields(fields)})


def name_worker(index: int) -> None:
    """Adds the number of this process among those of the service to every further line of it."""
    _output.process = {"worker": index}


def current_request_id() -> str | None:
    """Returns the id of the request that this task answers; None outside of one."""
    request_id = _bound.get().get("request_id")
    return request_id if isinstance(request_id, str) else None


def access(
    method: str,
    path: str,
    status: int,
    seconds: float,
    *,
    address: str,
    level: str = "info",
    **fields: object,
) -> None:
    """Writes the line of a request into the access log, at this level or, from status 500, as a
    warning. `path` is logged without its query, which may hold secrets; `fields` are names,
    numbers and flags of the service itself, which are written as they are.
    """
    if status >= 500:
        level = "warning"
    if LEVELS[level] < _output.level:
        return
    try:
        _output.lines[level] += 1
        line = {
            "time": instant_text(_output.clock.now()),
            "level": level,
            "event": "request",
            **_output.process,
            **_bound.get(),
            "logger": _ACCESS,
            "method": redaction.text(method),
            "path": redaction.text(path.partition("?")[0]),
            "status": status,
            "milliseconds": round(seconds * 1000, 1),
            "address": redaction.text(address),
            **fields,
        }
        _output.write(line)
    except Exception as error:  # a failure to log must not fail the caller
        _last_resort(error)


class _Standard(logging.Handler):
    """Writes what Tornado, asyncio and other libraries log through the standard library."""

    def emit(self, record: logging.LogRecord) -> None:
        level = "debug"
        for name, number in LEVELS.items():
            level = name if number <= record.levelno else level
        # The text before its arguments are inserted, which may differ in each record.
        kind = record.msg if isinstance(record.msg, str) else None
        logger(record.name).log(level, _message(record), {"exc_info": record.exc_info}, kind=kind)


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except Exception:  # arguments that don't fit: `logging` would print a traceback
        return record.msg if isinstance(record.msg, str) else f"<{type(record.msg).__name__}>"


def _rendered_line(
    name: str, level: str, event: str, fields: Mapping[str, object]
) -> dict[str, object]:
    """Returns the line's fields in their order: time, level, event; redacted and bounded."""
    first_fields: dict[str, object] = {
        "time": instant_text(_output.clock.now()),
        "level": level,
        "event": redaction.text(event),
    }
    given_fields = {**_output.process, **_bound.get(), "logger": name, **fields}
    exception = _exception(given_fields.pop("exc_info", None))
    rendered = first_fields | redaction.fields(given_fields) | first_fields
    if exception is not None:
        written = "".join(traceback.format_exception(exception)).rstrip("\n")
        rendered["exception"] = redaction.lines(written)
    return rendered


def _exception(exc_info: object) -> BaseException | None:
    """Returns the exception that the field `exc_info` states, in one of the forms that the
    standard library accepts."""
    if isinstance(exc_info, tuple):
        exc_info = exc_info[1] if len(exc_info) > 1 else None
    elif exc_info and not isinstance(exc_info, BaseException):
        exc_info = sys.exception()
    return exc_info if isinstance(exc_info, BaseException) else None


def _json(fields: Mapping[str, object]) -> str:
    return msgspec.json.encode(fields).decode()


def _text(fields: Mapping[str, object]) -> str:
    remaining = dict(fields)
    time, level, event = (str(remaining.pop(name)) for name in ("time", "level", "event"))
    rendered = [
        f"{name}={_word(value)}" for name, value in remaining.items() if name != "exception"
    ]
    line = "  ".join([f"{time[11:]} {level:7} {event}", *rendered])
    return "\n    ".join([line, *str(remaining.get("exception", "")).split("\n")]).rstrip()


def _word(value: object) -> str:
    """A value in one word: quoted if it contains spaces."""
    text = value if isinstance(value, str) else _json_value(value)
    return text if re.fullmatch(r"[^\s=\"]+", text) else _json_value(text)


def _json_value(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _last_resort(error: Exception) -> None:
    """Reports that a line was lost, if even that is possible."""
    with contextlib.suppress(OSError):
        os.write(2, f"a log line was lost: {type(error).__name__}\n".encode())
