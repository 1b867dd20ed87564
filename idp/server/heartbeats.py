"""Heartbeats: they show which workers' event loops run, and which workers hang.

The slots are in memory that the supervisor and its workers share. A worker writes the monotonic
time into its own slot; nothing can fill up, and no system call is needed.
"""

from __future__ import annotations

import asyncio
import mmap
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from typing import Final

from msgspec import Struct

from idp.foundation.clock import Timer

BEAT_SECONDS: Final = 0.25
RECENT_SECONDS: Final = 1.0  # a worker with a more recent heartbeat is certainly running
SILENT_SECONDS: Final = 5.0  # after that, a worker gets no new connections
ALL_SILENT_SECONDS: Final = 60.0  # longer where all are silent: a stalled disk stops them all
_SLOT_BYTES: Final = 8


class Heartbeats:
    """When the event loop of each of `count` workers last ran, in monotonic seconds."""

    def __init__(self, count: int, timer: Timer) -> None:
        self._timer = timer
        self._slots = memoryview(mmap.mmap(-1, count * _SLOT_BYTES)).cast("d")

    def beat(self, index: int) -> None:
        """Records that the event loop of the worker with this index runs now."""
        self._slots[index] = self._timer.monotonic()

    def last_beat(self, index: int) -> float:
        """Returns when the event loop of the worker with this index last ran, in monotonic
        seconds."""
        return self._slots[index]

    def is_beating(self, index: int) -> bool:
        """Returns whether a worker ran a moment ago."""
        return self._timer.monotonic() - self._slots[index] < RECENT_SECONDS

    def ages(self) -> list[float | None]:
        """Returns for each worker how long ago it ran, in seconds; None if it never did."""
        now = self._timer.monotonic()
        return [max(0.0, now - last_beat) if last_beat else None for last_beat in self._slots]

    @asynccontextmanager
    async def beating(self, index: int) -> AsyncIterator[None]:
        """Returns a context within which the running event loop calls `beat` regularly for the
        worker with this index."""
        task = asyncio.create_task(self._beat(index))
        try:
            yield
        finally:
            task.cancel()

    async def _beat(self, index: int) -> None:
        while True:
            self.beat(index)
            await self._timer.sleep(BEAT_SECONDS)


class WorkerActions(Struct, frozen=True):
    """The workers, by index, that are to get no new connections (`to_stop_listening`), those to be
    killed, and all that have been silent for SILENT_SECONDS while others ran."""

    to_stop_listening: frozenset[int] = frozenset()
    silent: frozenset[int] = frozenset()
    to_kill: frozenset[int] = frozenset()


class Watch:
    """Decides what to do with silent workers. All instants are monotonic seconds.

    `timeout_seconds` is how long a worker may be silent before it is killed.
    """

    def __init__(self, timeout_seconds: float) -> None:
        self._timeout_seconds = timeout_seconds
        self._checked_at: float | None = None
        self._counted_since = float("-inf")
        # For how long all were silent together, in total; and the last beat of each worker, with
        # that total when the beat was first seen.
        self._all_silent_seconds = 0.0
        self._seen_beats: dict[int, tuple[float, float]] = {}

    def check(
        self, now: float, last_beats: Mapping[int, float], listening: Collection[int]
    ) -> WorkerActions:
        """Returns what to do with silent workers. `last_beats` is when each serving worker's event
        loop last ran, by index; `listening` are the indexes of those that accept connections.

        It has to be called at least twice a second: from a later call it concludes that this
        process itself was suspended, and probably the machine, and every worker's silence is
        counted from then. The time for which all workers are silent together is not counted
        either: they don't resume at the same instant.
        """
        elapsed = 0.0 if self._checked_at is None else now - self._checked_at
        self._checked_at = now
        if elapsed > RECENT_SECONDS:
            self._counted_since = now
            self._seen_beats = {}
        silence = {index: now - max(at, self._counted_since) for index, at in last_beats.items()}
        if all(seconds >= RECENT_SECONDS for seconds in silence.values()):
            self._all_silent_seconds += elapsed
            timeout_seconds = max(ALL_SILENT_SECONDS, self._timeout_seconds)
            return WorkerActions(to_kill=_longer(silence, timeout_seconds))
        silence = {
            index: seconds - self._silent_with_all(index, last_beats[index])
            for index, seconds in silence.items()
        }
        silent = _longer(silence, SILENT_SECONDS)
        other_workers = frozenset(listening) - silent
        return WorkerActions(
            to_stop_listening=silent & frozenset(listening) if other_workers else frozenset(),
            silent=silent,
            to_kill=_longer(silence, self._timeout_seconds),
        )

    def _silent_with_all(self, index: int, last_beat: float) -> float:
        """Returns for how many seconds all workers were silent since this one's last beat."""
        seen_beat, total = self._seen_beats.get(index, (None, 0.0))
        if seen_beat != last_beat:
            self._seen_beats[index] = last_beat, self._all_silent_seconds
            return 0.0
        return self._all_silent_seconds - total


def _longer(silence: Mapping[int, float], seconds: float) -> frozenset[int]:
    return frozenset(index for index, silent in silence.items() if silent >= seconds)
