"""`idp audit export`: sealed events as lines of JSON on standard output, for programs that collect
them.

The cursor after the events is stored once their lines are flushed. So after a crash no event is
missing, and the last ones may be there twice.
"""

from __future__ import annotations

import asyncio
import errno
import os
import select
import signal
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, Final

import click
import msgspec
from msgspec import Struct

from idp import api
from idp.audit.event_streams import CursorTooOld
from idp.audit.event_types import STREAMS
from idp.cli.backends import Backend, open_backend
from idp.cli.building import with_location_options
from idp.cli.document import Document
from idp.cli.output import say
from idp.cli.running import location_of
from idp.config.urls import address_and_port
from idp.foundation import cancellation
from idp.foundation.clock import Clock, SystemClock
from idp.foundation.errors import Busy, ConfigError, DeadlineExceeded, IdpError, TooMany
from idp.foundation.private_files import locked, new_file
from idp.start import exit_codes
from storage import Unavailable, Unknown

STREAM: Final = api.events.STREAM
PAUSE_SECONDS: Final = 1.0
_PAGE_SIZE: Final = 1000
_WAIT: Final = "5"  # seconds; a call of a service can't be interrupted
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
_UNAVAILABLE: Final = (Unavailable, Unknown, Busy, TooMany)
_NO_SYNC: Final = (errno.EINVAL, errno.ENOTSUP, errno.EROFS)  # of pipes and terminals
_CURSOR_UNKNOWN: Final = "events.cursor_unknown"
_DRAFT: Final = "new"
UP_TO_DATE: Final = "idp_audit_export_up_to_date_timestamp_seconds"
_MEANING: Final = "When every sealed event was exported; 0 if that was not yet so."


class ExportOptions(Struct, frozen=True):
    """The events to export: those of these streams (empty: all, or those of the cursor) after the
    cursor `start`, if the cursor file has no other; with `follows`, also those to come."""

    streams: str = ""
    start: str = "oldest"
    follows: bool = False


class WriteFailed(IdpError):
    """The output or the cursor file can't be written; what was not written is exported by the next
    run."""


class _State(Struct, forbid_unknown_fields=True):
    cursor: str


class CursorFile:
    """The file with the cursor after the last event that was written; with the path None, the
    cursor is not stored."""

    def __init__(self, path: Path | None) -> None:
        self.path = path

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Holds the lock of the file within the block: a lock on a file beside it, because it is
        replaced itself. Raises AlreadyRunning, ConfigError."""
        with ExitStack() as stack:
            if self.path is not None:
                lock = self.path.with_name(f"{self.path.name}.lock")
                in_use = f"another export uses {self.path}"
                try:
                    stack.enter_context(locked(lock, in_use, creates=True))
                except OSError as error:
                    raise ConfigError([f"{lock} can't be created: {error.strerror}"]) from error
            yield

    def read(self) -> str | None:
        """Returns the stored cursor, None if there is no file. Raises ConfigError if it can't
        be read or has no cursor."""
        if self.path is None:
            return None
        try:
            return msgspec.json.decode(self.path.read_bytes(), type=_State).cursor
        except FileNotFoundError:
            return None
        except OSError as error:
            raise ConfigError([f"{self.path} can't be read: {error.strerror}"]) from error
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise ConfigError(
                [f"{self.path} is not the cursor of an export: name another file, or remove it"]
            ) from error

    def store(self, cursor: str) -> None:
        """Replaces the file by one with this cursor, atomically. Raises OSError."""
        if self.path is None:
            return
        draft = self.path.with_name(f".{self.path.name}.{_DRAFT}")
        draft.unlink(missing_ok=True)  # a killed export left it behind
        with new_file(self.path, _DRAFT, replaces=True) as file:
            file.write(msgspec.json.encode(_State(cursor)) + b"\n")


class LineStream:
    """A stream to which lines are written, each of them whole even after a run that was killed."""

    def __init__(self, stream: BinaryIO) -> None:
        # Without a buffer: what was written is on its way.
        self._stream: BinaryIO = getattr(stream, "raw", stream)
        self._begin = b"\n" if _ends_within_line(self._stream) else b""

    def write(self, lines: bytes) -> None:
        """Writes whole lines, and waits until they are on disk if it is a file. Raises OSError."""
        pending = memoryview(self._begin + lines)
        while pending:
            written = self._stream.write(pending)
            if not written:  # a pipe that does not block is full
                select.select([], [self._stream], [])
            pending = pending[written or 0 :]
        self._begin = b""
        self._stream.flush()
        try:
            os.fsync(self._stream.fileno())
        except OSError as error:  # io.UnsupportedOperation is one, without a number
            if error.errno not in (None, *_NO_SYNC):
                raise


def _ends_within_line(stream: BinaryIO) -> bool:
    """Whether the stream appends to a file whose last line a killed export has left incomplete."""
    with suppress(OSError):
        descriptor = stream.fileno()
        status = os.fstat(descriptor)
        if stat.S_ISREG(status.st_mode) and status.st_size:
            with Path(f"/proc/self/fd/{descriptor}").open("rb") as file:
                file.seek(-1, os.SEEK_END)
                return file.read() != b"\n"
    return False


class Exporter:
    """An export into `lines`. It ends when `stopping` is set, or, unless it follows, after the
    last event.

    It calls `record_up_to_date` whenever every sealed event is exported. With `follows`, it
    continues after the store or the service was unavailable.
    """

    def __init__(
        self,
        lines: LineStream,
        cursor_file: CursorFile,
        options: ExportOptions,
        stopping: asyncio.Event,
        record_up_to_date: Callable[[], None] = lambda: None,
    ) -> None:
        self._lines, self._cursor_file, self._options = lines, cursor_file, options
        self._stopping, self._record_up_to_date = stopping, record_up_to_date
        self._cursor = cursor_file.read()
        self._is_stored = self._cursor is not None
        self._is_away = False
        self.events = 0

    async def run(self, open_backend: Callable[[], AbstractAsyncContextManager[Backend]]) -> None:
        """Exports events from the back end that `open_backend` provides. Raises IdpError,
        StorageError."""
        while not self._stopping.is_set():
            try:
                async with open_backend() as backend:
                    await self._export(backend)
                return
            except _UNAVAILABLE as error:
                if not self._options.follows:
                    raise
                if not self._is_away:
                    say(f"events can't be read, and the export tries again: {error}")
                self._is_away = True
                await self._pause()

    async def _export(self, backend: Backend) -> None:
        with suppress(DeadlineExceeded):  # it was stopped while it waited for events
            while not self._stopping.is_set():
                answer = await cancellation.run_unless_set(self._stopping, self._next(backend))
                if self._is_away:
                    say("events can be read again")
                self._is_away = False
                await self._store(answer)
                if not self._options.follows and not answer.get("events"):
                    return

    async def _next(self, backend: Backend) -> Document:
        """Returns the next events. Raises IdpError, StorageError."""
        query = {"cursor": self._cursor or self._options.start, "limit": str(_PAGE_SIZE)}
        if self._options.streams:
            query["stream"] = self._options.streams
        if self._options.follows and self._is_stored:
            query["wait"] = _WAIT
        try:
            return await backend.call(STREAM, [], query)
        except CursorTooOld as error:
            raise self._unusable(error.message, error.oldest) from error
        except IdpError as error:
            if error.details[0].error_code != _CURSOR_UNKNOWN:
                raise
            raise self._unusable(error.message, "oldest") from error

    def _unusable(self, reason: str, oldest: str) -> IdpError:
        is_from_file = self._cursor_file.path is not None and self._cursor is not None
        removal = f"remove {self._cursor_file.path} and " if is_from_file else ""
        return IdpError(
            f"{reason}; to continue with the first available event, {removal}start"
            f" with --from {oldest}"
        )

    async def _store(self, answer: Document) -> None:
        """Writes the lines of the events, and then the cursor. Raises WriteFailed."""
        events, cursor = answer.get("events", []), answer["nextCursor"]
        lines = b"".join(msgspec.json.encode(each) + b"\n" for each in events)
        try:
            if events:
                await asyncio.to_thread(self._lines.write, lines)
            if events or not self._is_stored:
                await asyncio.to_thread(self._cursor_file.store, cursor)
        except OSError as error:
            name = error.filename or "the output"
            raise WriteFailed(f"{name} can't be written: {error.strerror}") from error
        self._cursor, self._is_stored = cursor, True
        self.events += len(events)
        if len(events) < _PAGE_SIZE:
            self._record_up_to_date()

    async def _pause(self) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stopping.wait(), PAUSE_SECONDS)


@click.command("export", short_help="Export sealed events as JSON lines.")
@click.option(
    "--stream",
    "streams",
    multiple=True,
    type=click.Choice(STREAMS),
    help="Export only this stream; repeatable.",
)
@click.option(
    "--from",
    "start",
    metavar="CURSOR",
    default="oldest",
    help="Where to begin if there is no cursor file: a cursor, oldest or latest.",
)
@click.option("--follow", is_flag=True, help="Continue with new events.")
@click.option(
    "--cursor-file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The file with the cursor after the last exported event.",
)
@click.option(
    "--metrics-listen",
    metavar="ADDRESS:PORT",
    help="Where Prometheus can scrape when every event was exported.",
)
def export(
    streams: Sequence[str],
    start: str,
    follow: bool,
    cursor_file: Path | None,
    metrics_listen: str | None,
    **option_values: Any,
) -> None:
    """Write every sealed event as a line of JSON, as GET /v2/events/stream does, and store the
    cursor after each batch; with --follow until it is terminated. After an export was killed,
    the next one repeats the last events and leaves none out.
    Example: idp audit export --follow --cursor-file export.cursor
    """
    options = ExportOptions(",".join(streams), start, follow)
    location = location_of(option_values)

    async def run() -> None:
        stopping, cursor = asyncio.Event(), CursorFile(cursor_file)
        with (
            cursor.locked(),
            serving_metric(metrics_listen, SystemClock()) as record_up_to_date,
            stopped_by_signals(stopping.set),
        ):
            lines = LineStream(sys.stdout.buffer)
            exporter = Exporter(lines, cursor, options, stopping, record_up_to_date)
            await exporter.run(lambda: open_backend(location))
        say(f"{exporter.events} events were exported")

    raise SystemExit(exit_codes.guarded(lambda: asyncio.run(run())))


export = with_location_options(export)


@contextmanager
def serving_metric(address: str | None, clock: Clock) -> Iterator[Callable[[], None]]:
    """Serves the metric at ADDRESS:PORT within the block; with None, nowhere. The value is a
    function that records that every event is exported. Raises ConfigError."""
    if address is None:
        yield lambda: None
        return
    from prometheus_client import CollectorRegistry, Gauge, start_http_server

    registry = CollectorRegistry()
    gauge = Gauge(UP_TO_DATE, _MEANING, registry=registry)
    try:
        host, port = address_and_port(address)
        server, thread = start_http_server(port, host, registry)
    except ValueError as error:
        raise ConfigError([f"--metrics-listen {error}"]) from None
    except OSError as error:
        raise ConfigError([f"{address} can't be listened on: {error.strerror}"]) from error
    try:
        yield lambda: gauge.set(clock.now().timestamp())
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def stopped_by_signals(stop: Callable[[], None]) -> Iterator[None]:
    """Within the block, the first SIGTERM or Ctrl-C calls `stop`, and the second ends the program
    immediately."""
    loop = asyncio.get_running_loop()
    previous_handlers = {number: signal.getsignal(number) for number in _SIGNALS}

    def on_signal() -> None:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_DFL)
        stop()

    for number in _SIGNALS:
        loop.add_signal_handler(number, on_signal)
    try:
        yield
    finally:
        for number, handler in previous_handlers.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)
