"""The export of sealed events: reads them from a back end, writes their lines, and then stores the
cursor after them. So after a crash no event is missing, and the last ones may be there twice."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from typing import Final

import msgspec
from msgspec import Struct

from idp.audit.event_streams import CursorTooOld
from idp.cli.backends import Backend
from idp.cli.command import OPERATION_AT
from idp.cli.document import Document
from idp.cli.event_export.line_files import Lines
from idp.cli.event_export.state_file import StateFile
from idp.cli.output import say
from idp.foundation import cancellation
from idp.foundation.errors import Busy, DeadlineExceeded, IdpError, TooMany
from storage import Unavailable, Unknown

STREAM: Final = OPERATION_AT["GET /v2/events/stream"]
PAUSE_SECONDS: Final = 1.0
_PAGE_SIZE: Final = 1000
_WAIT: Final = "5"  # seconds; a call of a service can't be interrupted
_UNAVAILABLE: Final = (Unavailable, Unknown, Busy, TooMany)
_DISK_FULL: Final = (errno.ENOSPC, errno.EDQUOT)
_CURSOR_UNKNOWN: Final = "events.cursor_unknown"


class ExportOptions(Struct, frozen=True):
    """The events to export: those of these streams (empty: all, or those of the cursor) after the
    cursor `start`, if the state file has no other; with `follows`, also those to come."""

    streams: str = ""
    start: str = "oldest"
    follows: bool = False


class WriteFailed(IdpError):
    """The output or the state file can't be written; what was not written is exported by the next
    run."""


class Exporter:
    """An export into `lines`. It ends when `stopping` is set, or, unless it follows, after the
    last event.

    It calls `record_up_to_date` whenever every sealed event is exported. With `follows`, it
    continues after the store or the service was unavailable, or the disk was full.
    """

    def __init__(
        self,
        lines: Lines,
        state: StateFile,
        options: ExportOptions,
        stopping: asyncio.Event,
        record_up_to_date: Callable[[], None] = lambda: None,
    ) -> None:
        self._lines, self._state, self._options = lines, state, options
        self._stopping, self._record_up_to_date = stopping, record_up_to_date
        self._cursor = state.read()
        self._is_stored = self._cursor is not None
        self._reported: set[str] = set()
        self.events = 0

    async def run(self, open_backend: Callable[[], AbstractAsyncContextManager[Backend]]) -> None:
        """Exports events from the back end that `open_backend` provides. Raises IdpError,
        StorageError."""
        await self._write(self._lines.store)  # so that an output that can't be used is reported
        while not self._stopping.is_set():
            try:
                async with open_backend() as backend:
                    await self._export(backend)
                return
            except _UNAVAILABLE as error:
                if not self._options.follows:
                    raise
                self._report(
                    "unavailable", f"events can't be read, and the export tries again: {error}"
                )
                await self._pause()

    async def _export(self, backend: Backend) -> None:
        with suppress(DeadlineExceeded):  # it was stopped while it waited for events
            while not self._stopping.is_set():
                answer = await cancellation.run_unless_set(self._stopping, self._next(backend))
                self._end_report("unavailable", "events can be read again")
                if not await self._store(answer) or not self._continues(answer):
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
        removal = f"remove {self._state.path} and " if self._cursor is not None else ""
        return IdpError(
            f"{reason}; to continue with the first available event, {removal}start"
            f" with --from {oldest}"
        )

    def _continues(self, answer: Document) -> bool:
        return self._options.follows or bool(answer.get("events"))

    async def _store(self, answer: Document) -> bool:
        """Writes the lines of the events, and then the state; returns whether both are stored:
        not if the export was stopped while the disk was full."""
        events, cursor = answer.get("events", []), answer["nextCursor"]
        if events:
            self._lines.add(b"".join(msgspec.json.encode(each) + b"\n" for each in events))
            if not await self._write(self._lines.store):
                return False
        has_moved = bool(events) or not self._is_stored
        if has_moved and not await self._write(lambda: self._state.store(cursor)):
            return False
        self._cursor, self._is_stored = cursor, True
        self.events += len(events)
        if len(events) < _PAGE_SIZE:
            self._record_up_to_date()
        return True

    async def _write(self, write: Callable[[], None]) -> bool:
        """Calls `write`, repeatedly while the disk is full; returns whether it succeeded
        before the export was stopped. Raises WriteFailed, AlreadyRunning, ConfigError."""
        while True:
            try:
                await asyncio.to_thread(write)
            except OSError as error:
                if error.errno not in _DISK_FULL or not self._options.follows:
                    raise WriteFailed(_sentence(error)) from error
                self._report(
                    "disk", f"{_sentence(error)}; the export tries again, no event is lost"
                )
            else:
                self._end_report("disk", "the disk has space again")
                return True
            await self._pause()
            if self._stopping.is_set():
                return False

    async def _pause(self) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stopping.wait(), PAUSE_SECONDS)

    def _report(self, topic: str, sentence: str) -> None:
        if topic not in self._reported:
            self._reported.add(topic)
            say(sentence)

    def _end_report(self, topic: str, sentence: str) -> None:
        if topic in self._reported:
            self._reported.remove(topic)
            say(sentence)


def _sentence(error: OSError) -> str:
    return f"{error.filename or 'the output'} can't be written: {error.strerror}"
