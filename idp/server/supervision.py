"""The decisions of a supervisor: what happens to its workers and when, as a function of time and
events.

Nothing here starts, ends or signals a process, and nothing reads a clock: every method receives
the time and returns actions, which `idp.server.supervisor` carries out. All instants are monotonic
seconds.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from idp.foundation import logs, metrics
from idp.server.heartbeats import SILENT_SECONDS, Watch, WorkerActions
from idp.server.restarts import Restarts
from idp.server.worker_processes import TimeLimits
from idp.start import exit_codes

TICK_SECONDS: Final = 0.25
START_SECONDS: Final = 120.0  # a worker that does not serve by then is killed
GRACE_SECONDS: Final = 5.0  # beyond the time that a stop may take

_log: Final = logs.logger(__name__)


class SendSignal(Struct, frozen=True):
    """Send the signal `number` to these children, some of which may have ended."""

    pids: tuple[int, ...]
    number: int


class StopListening(Struct, frozen=True):
    """Make the socket of the worker with this process id and index stop listening, in all
    processes that hold it."""

    pid: int
    index: int


# Announce the service; close the reserved port; tell the service manager that the service serves,
# that it stops, or that a worker runs.
Step: TypeAlias = Literal["announce", "close port", "ready", "stopping", "watchdog"]
Action: TypeAlias = SendSignal | StopListening | Step
RestartReason: TypeAlias = Literal["exit", "hung", "signal"]


class _SupervisedWorker(Struct):
    """A running worker."""

    index: int
    started_at: float
    is_serving: bool = False
    has_stopped_listening: bool = False
    is_hung: bool = False


class Supervision:
    """The state of a supervisor and its `count` workers, from the preparation to the end of the
    last worker. `exit_code` is the code with which the supervisor would exit now."""

    def __init__(self, count: int, limits: TimeLimits) -> None:
        self.exit_code = exit_codes.OK
        self._stop_seconds = limits.stop_seconds + GRACE_SECONDS
        self._watch = Watch(limits.hang_seconds)
        self._restarts = Restarts()
        self._preparing: int | None = None  # the process id of the child that prepares the service
        self._start_at = dict.fromkeys(range(count), 0.0)  # when each worker is to be started
        self._workers: dict[int, _SupervisedWorker] = {}  # by process id
        self._unannounced = set(range(count))  # that have never served
        self._is_announced = False
        self._reloaded_at = float("-inf")
        self._stop_by: float | None = None

    @property
    def is_stopping(self) -> bool:
        """Whether the supervisor has begun to stop."""
        return self._stop_by is not None

    @property
    def is_announced(self) -> bool:
        """Whether each worker has served at least once."""
        return self._is_announced

    @property
    def is_over(self) -> bool:
        """Whether the supervisor has stopped and its last worker has ended."""
        return self.is_stopping and not self._workers

    def workers(self) -> dict[int, int]:
        """Returns the indexes of the running workers by their process ids."""
        return {pid: worker.index for pid, worker in self._workers.items()}

    def record_preparation(self, pid: int | None) -> None:
        """Records that the child with this process id prepares the service; None once it has
        ended."""
        self._preparing = pid

    def due(self, now: float) -> list[int]:
        """Returns the indexes of the workers that are to be started now. For each, the caller
        calls `record_start` or `record_failed_start`."""
        if self.is_stopping:
            return []
        return [index for index, at in self._start_at.items() if at <= now]

    def seconds_to_wait(self, now: float) -> float:
        """Returns how long the caller may wait for an event, at most a tick."""
        if self.is_stopping:
            return TICK_SECONDS
        return max(0.0, min([TICK_SECONDS, *(at - now for at in self._start_at.values())]))

    def record_start(self, now: float, index: int, pid: int) -> None:
        """Records that the worker `index` was started as the process `pid`."""
        del self._start_at[index]
        self._workers[pid] = _SupervisedWorker(index, now)

    def record_failed_start(self, now: float, index: int, cause: str | None) -> list[Action]:
        """Records that the system had no room for the worker `index`, and why; it is started
        later."""
        pause = max(TICK_SECONDS, self._restarts.pause(index, exit_codes.FAILED, 0.0))
        self._start_at[index] = now + pause
        _log.error("a worker can't be started", worker=index, cause=cause, pause_seconds=pause)
        return self._end_after_failures(now, exit_codes.FAILED)

    def record_serving(self, pid: int) -> list[Action]:
        """Records that the worker `pid` serves; announces the service when all have served."""
        worker = self._workers.get(pid)
        if worker is None:
            return []
        worker.is_serving = True
        self._restarts.record_serving()
        self._unannounced.discard(worker.index)
        actions: list[Action] = []
        if worker.started_at < self._reloaded_at:
            actions.append(SendSignal((pid,), signal.SIGHUP))
        if not self._unannounced and not self._is_announced:
            self._is_announced = True
            actions += ["announce", "ready"]
        return actions

    def record_reload(self, now: float) -> list[Action]:
        """Records that the settings were read again: every worker that serves does the same, and
        the others as soon as they do."""
        self._reloaded_at = now
        serving = [pid for pid, worker in self._workers.items() if worker.is_serving]
        return [SendSignal(tuple(serving), signal.SIGHUP)] if serving else []

    def record_end(self, now: float, pid: int, code: int) -> list[Action]:
        """Records that the worker `pid` has ended with this exit code, which is negative if a
        signal ended it. If that was unexpected, the worker is replaced."""
        worker = self._workers.pop(pid)
        if self.is_stopping:
            if code not in (exit_codes.OK, -signal.SIGTERM):
                self.exit_code = own_exit_code(code)
            return []
        pause = self._restarts.pause(worker.index, code, now - worker.started_at)
        self._start_at[worker.index] = now + pause
        reason = _reason(worker, code)
        metrics.WORKER_RESTARTS.count(reason)
        _log.warning(
            "worker replaced",
            worker=worker.index,
            reason=reason,
            exit_code=code,
            pause_seconds=pause,
        )
        return self._end_after_failures(now, code)

    def stop(self, now: float, number: int) -> list[Action]:
        """Asks the children to finish; the second time, kills them. `number` is the signal that
        was received."""
        children = self._children()
        if self.is_stopping:
            return [SendSignal(children, signal.SIGKILL)]
        self._stop_by = now + self._stop_seconds
        return [
            "stopping",
            SendSignal(children, number),
            SendSignal(children, signal.SIGTERM),  # a worker that is about to start ignores SIGINT
            "close port",
        ]

    def check(
        self,
        now: float,
        last_beat: Callable[[int], float],
        blocks_others: Callable[[int], bool],
    ) -> list[Action]:
        """Ends workers whose event loop hangs, and starts and stops that take too long.

        It has to be called at least twice a second (`Watch.check`). `last_beat` returns when the
        event loop of a worker last ran, by its index; `blocks_others` whether a silent worker
        keeps the others from working, by its process id.
        """
        if self._stop_by is not None:
            if now < self._stop_by or not (children := self._children()):
                return []
            self.exit_code = exit_codes.FAILED
            return [SendSignal(children, signal.SIGKILL)]
        serving = {pid: worker for pid, worker in self._workers.items() if worker.is_serving}
        last_beats = {worker.index: last_beat(worker.index) for worker in serving.values()}
        listening = [each.index for each in serving.values() if not each.has_stopped_listening]
        found = self._watch.check(now, last_beats, listening)
        is_running = any(now - at < SILENT_SECONDS for at in last_beats.values())
        actions: list[Action] = ["watchdog"] if is_running else []
        for pid, worker in serving.items():
            if worker.index in found.to_stop_listening:
                worker.has_stopped_listening = True
                actions.append(StopListening(pid, worker.index))
        hung = [
            pid for pid in self._workers if self._is_to_be_killed(now, pid, found, blocks_others)
        ]
        for pid in hung:
            self._workers[pid].is_hung = True
        return [*actions, SendSignal(tuple(hung), signal.SIGKILL)] if hung else actions

    def _is_to_be_killed(
        self, now: float, pid: int, found: WorkerActions, blocks_others: Callable[[int], bool]
    ) -> bool:
        worker = self._workers[pid]
        if not worker.is_serving:
            return now - worker.started_at > START_SECONDS
        if worker.index in found.to_kill:
            return True
        if worker.index not in found.silent or not blocks_others(pid):
            return False
        _log.warning("a silent worker blocks the others: it is killed", worker=worker.index)
        return True

    def _end_after_failures(self, now: float, code: int) -> list[Action]:
        """Ends the service if no worker serves, and too many have ended or could not start."""
        is_any_serving = any(worker.is_serving for worker in self._workers.values())
        if is_any_serving or not self._restarts.record_failure(now, code):
            return []
        _log.error("the service ends: its workers end before they serve")
        self.exit_code = exit_codes.FAILED
        return self.stop(now, signal.SIGTERM)

    def _children(self) -> tuple[int, ...]:
        return (self._preparing,) if self._preparing is not None else tuple(self._workers)


def _reason(worker: _SupervisedWorker, code: int) -> RestartReason:
    if worker.is_hung or worker.has_stopped_listening:
        return "hung"
    return "signal" if code < 0 else "exit"


def own_exit_code(code: int) -> int:
    """Returns an exit code for the supervisor; a child's is negative when a signal ended it."""
    return code if code > 0 else exit_codes.FAILED
