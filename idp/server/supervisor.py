"""Several processes on one port: a parent that starts workers, replaces them and stops them.

The parent opens nothing: no store, no threads, no event loop. One child prepares everything and
returns the announcement; then the workers are started, each with a socket of its own. A worker
that ends unexpectedly is replaced, one whose event loop hangs is killed and replaced. When
the parent itself is killed, its end of a pipe closes, and the workers finish their requests and
end.
"""

from __future__ import annotations

import os
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Final

from msgspec import Struct

from idp.foundation import logs, metrics
from idp.server import forking
from idp.server.heartbeats import SILENT_SECONDS, Heartbeats, Watch
from idp.server.metrics_child import MetricsChild
from idp.server.notify import Notifier
from idp.server.port import Port, stop_listening
from idp.server.restarts import Restarts
from idp.server.signals import SignalQueue
from idp.server.worker_processes import ProcessFunctions, TimeLimits, WorkerContext
from idp.start import exit_codes

_TICK_SECONDS: Final = 0.25
_START_SECONDS: Final = 120.0  # a worker that does not serve by then is killed
_GRACE_SECONDS: Final = 5.0  # beyond the time that a stop may take
_STOP_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
_PID: Final = struct.Struct("=i")

_log: Final = logs.logger(__name__)


class _SupervisedWorker(Struct):
    """A running worker, with the parent's copy of its socket."""

    index: int
    listening_socket: socket.socket
    started_at: float
    is_serving: bool = False
    has_stopped_listening: bool = False
    is_hung: bool = False


class Supervisor:
    """The parent process: starts `count` workers on a port, replaces those that end or hang, and
    stops them. `functions` are what the processes run.
    """

    def __init__(
        self,
        port: Port,
        functions: ProcessFunctions,
        count: int,
        limits: TimeLimits,
        notifier: Notifier,
    ) -> None:
        self._port = port
        self._functions = functions
        self._stop_seconds = limits.stop_seconds
        self._notifier = notifier
        self._heartbeats = Heartbeats(count)
        self._watch = Watch(limits.hang_seconds)
        self._restarts = Restarts()
        self._start_at = dict.fromkeys(range(count), 0.0)  # when each worker is to be started
        self._workers: dict[int, _SupervisedWorker] = {}  # by process id
        self._announce: Callable[[], None] | None = None  # until all have served once
        self._unannounced = set(range(count))
        self._reloaded_at = float("-inf")
        self._stop_by: float | None = None
        self._exit_code = exit_codes.OK
        self._parent_read_end, self._parent_write_end = os.pipe()
        self._ready_read_end, self._ready_write_end = os.pipe()
        answer = functions.answer_scrapes
        self._metrics_child = MetricsChild(
            answer and (lambda: answer(self._parent_read_end, self._heartbeats))
        )

    def run(self, announce: Callable[[bytes], None]) -> None:
        """Starts the processes; calls `announce` with what `prepare` returned once all workers
        serve, and returns when every worker has ended after SIGTERM or SIGINT.

        Raises SystemExit if the start failed, or a worker could not finish its work.
        """
        with SignalQueue((*_STOP_SIGNALS, signal.SIGCHLD, signal.SIGHUP)) as self._signals:
            announcement = self._prepare()
            self._announce = lambda: announce(announcement)
            forking.share_memory()
            while self._workers or self._stop_by is None:
                self._start_due()
                self._wait()
                self._reap()
                self._supervise()
                self._report()
            self._metrics_child.stop()
        if self._exit_code != exit_codes.OK:
            raise SystemExit(self._exit_code)

    def _report(self) -> None:
        """Writes the metrics of this process, and how many repeated log lines it has
        suppressed."""
        metrics.write()
        logs.report_repetitions()

    def _prepare(self) -> bytes:
        """Runs the child that prepares the service, and returns its announcement.
        Raises SystemExit if it failed; it has printed why.
        """
        read, write = os.pipe()

        def prepare() -> None:
            announcement = self._functions.prepare(self._heartbeats)
            with suppress(BrokenPipeError), os.fdopen(write, "wb") as pipe:
                pipe.write(announcement)

        child = self._fork(prepare)
        os.close(write)
        with os.fdopen(read, "rb") as pipe:
            while not self._signals.wait(_TICK_SECONDS, read):
                self._handle_signals([child])
                self._end_late_stop([child])
                if self._heartbeats.is_beating(0):
                    self._notifier.starting()
            announcement = pipe.read()
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code != exit_codes.OK and self._stop_by is None:
            if code < 0:
                _log.error("the start failed: its process was ended by a signal", signal=-code)
            raise SystemExit(_own_exit_code(code))
        return announcement

    def _start_due(self) -> None:
        """Starts the children that are due, unless all are stopping."""
        if self._stop_by is None:
            self._metrics_child.start_if_due(self._fork)
        now = time.monotonic()
        for index in [index for index, at in self._start_at.items() if at <= now]:
            if self._stop_by is None:
                del self._start_at[index]
                try:
                    self._start(index)
                except OSError as error:  # no process, descriptor or memory is left
                    self._retry_start(index, error)

    def _start(self, index: int) -> None:
        """Starts a worker. Raises OSError if the system has no room for it."""
        context = WorkerContext(
            index=index,
            listening_socket=self._port.worker_socket(),
            heartbeats=self._heartbeats,
            ready=lambda: _report(self._ready_write_end),
            parent=self._parent_read_end,
        )
        try:
            child = self._fork(lambda: self._functions.work(context))
        except OSError:
            context.listening_socket.close()
            raise
        self._workers[child] = _SupervisedWorker(index, context.listening_socket, time.monotonic())

    def _fork(self, work: Callable[[], None]) -> int:
        """Runs `work` in a child, which ends with its exit code; returns its process id."""
        child = self._signals.fork()
        if child:
            return child
        code = exit_codes.FAILED
        try:
            # From a terminal it reaches the parent, too, which then sends SIGTERM.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            self._close_parents_ends()
            code = exit_codes.guarded(work)
        except BaseException:  # a child must never return into its parent's code
            sys.excepthook(*sys.exc_info())
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

    def _close_parents_ends(self) -> None:
        """Closes in a child the descriptors that only the parent may hold, and the sockets of
        other workers: connections would otherwise be queued for them after their end.
        """
        os.close(self._parent_write_end)
        os.close(self._ready_read_end)
        self._port.close()
        for worker in self._workers.values():
            worker.listening_socket.close()

    def _wait(self) -> None:
        """Waits for a signal, a worker that serves, or the next tick, and handles it."""
        now = time.monotonic()
        seconds = min([_TICK_SECONDS, *(at - now for at in self._start_at.values())])
        if self._signals.wait(seconds, self._ready_read_end):
            self._record_serving()
        self._handle_signals(list(self._workers))

    def _handle_signals(self, children: list[int]) -> None:
        numbers = self._signals.received()
        for number in numbers:
            if number in _STOP_SIGNALS:
                self._stop(children, number)
        if signal.SIGHUP in numbers and self._stop_by is None:
            self._reload_all()

    def _reload_all(self) -> None:
        """Has the settings read again by every worker that serves, and by the others as soon as
        they do.
        """
        is_announced = not self._unannounced
        if is_announced:
            self._notifier.reloading()
        if self._functions.reload() is not None:
            self._reloaded_at = time.monotonic()
            serving = [pid for pid, worker in self._workers.items() if worker.is_serving]
            _kill(serving, signal.SIGHUP)
        if is_announced:
            self._notifier.ready("serving")

    def _record_serving(self) -> None:
        """Records which workers serve now; announces the service when all have served."""
        for (pid,) in _PID.iter_unpack(os.read(self._ready_read_end, 64 * _PID.size)):
            worker = self._workers.get(pid)
            if worker is not None:
                worker.is_serving = True
                self._restarts.record_serving()
                self._unannounced.discard(worker.index)
                if worker.started_at < self._reloaded_at:
                    _kill([pid], signal.SIGHUP)
        if not self._unannounced and self._announce is not None:
            self._announce()
            self._announce = None
            self._notifier.ready("serving")

    def _reap(self) -> None:
        """Reaps every child that has ended, and has ended workers replaced."""
        while True:
            try:
                child, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if not child:
                return
            code = os.waitstatus_to_exitcode(status)
            self._metrics_child.record_end(child, code)
            worker = self._workers.pop(child, None)
            if worker is not None:  # a container's first process inherits every orphan
                worker.listening_socket.close()
                metrics.remove_running(str(worker.index))
                self._replace_ended(worker, code)

    def _replace_ended(self, worker: _SupervisedWorker, code: int) -> None:
        """Schedules the replacement of a worker that ended unexpectedly."""
        if self._stop_by is not None:
            if code not in (exit_codes.OK, -signal.SIGTERM):
                self._exit_code = _own_exit_code(code)
            return
        now = time.monotonic()
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
        self._end_after_failures(now, code)

    def _retry_start(self, index: int, error: OSError) -> None:
        """Schedules another attempt to start a worker."""
        now = time.monotonic()
        pause = max(_TICK_SECONDS, self._restarts.pause(index, exit_codes.FAILED, 0.0))
        self._start_at[index] = now + pause
        _log.error(
            "a worker can't be started", worker=index, cause=error.strerror, pause_seconds=pause
        )
        self._end_after_failures(now, exit_codes.FAILED)

    def _end_after_failures(self, now: float, code: int) -> None:
        """Ends the service if no worker serves, and too many have ended or could not start."""
        is_any_serving = any(each.is_serving for each in self._workers.values())
        if not is_any_serving and self._restarts.record_failure(now, code):
            _log.error("the service ends: its workers end before they serve")
            self._exit_code = exit_codes.FAILED
            self._stop(list(self._workers), signal.SIGTERM)

    def _supervise(self) -> None:
        """Ends workers whose event loop hangs, and starts and stops that take too long."""
        now = time.monotonic()
        if self._stop_by is not None:
            self._end_late_stop(self._workers)
            return
        serving = {each.index: each for each in self._workers.values() if each.is_serving}
        last_beats = {index: self._heartbeats.last_beat(index) for index in serving}
        if any(now - at < SILENT_SECONDS for at in last_beats.values()):
            self._notifier.watchdog()
        listening = [index for index, each in serving.items() if not each.has_stopped_listening]
        actions = self._watch.check(now, last_beats, listening)
        for index in actions.to_stop_listening:
            serving[index].has_stopped_listening = True
            stop_listening(serving[index].listening_socket)
            _log.warning("a worker is silent: it gets no new connections", worker=index)
        for pid, worker in self._workers.items():
            is_late = not worker.is_serving and now - worker.started_at > _START_SECONDS
            is_to_be_killed = worker.is_serving and worker.index in actions.to_kill
            is_silent = worker.is_serving and worker.index in actions.silent
            if is_late or is_to_be_killed or (is_silent and self._blocks_others(pid, worker)):
                worker.is_hung = True
                _kill([pid], signal.SIGKILL)

    def _blocks_others(self, pid: int, worker: _SupervisedWorker) -> bool:
        """Returns whether the others can't work until a silent worker has ended, and logs that."""
        is_blocking = self._functions.blocks_others(pid)
        if is_blocking:
            _log.warning("a silent worker blocks the others: it is killed", worker=worker.index)
        return is_blocking

    def _end_late_stop(self, children: Iterable[int]) -> None:
        """Kills the children that have not ended in the time for a stop."""
        if self._stop_by is not None and time.monotonic() >= self._stop_by:
            self._exit_code = exit_codes.FAILED
            _kill(children, signal.SIGKILL)

    def _stop(self, children: list[int], number: int) -> None:
        """Asks the workers to finish; the second time, kills them."""
        if self._stop_by is not None:
            _kill(children, signal.SIGKILL)
            return
        self._notifier.stopping()
        _kill(children, number)
        _kill(children, signal.SIGTERM)  # a worker that is about to start ignores SIGINT
        self._stop_by = time.monotonic() + self._stop_seconds + _GRACE_SECONDS
        self._port.close()


def _reason(worker: _SupervisedWorker, code: int) -> str:
    if worker.is_hung or worker.has_stopped_listening:
        return "hung"
    return "signal" if code < 0 else "exit"


def _own_exit_code(code: int) -> int:
    """Returns an exit code for this process; a child's is negative when a signal ended it."""
    return code if code > 0 else exit_codes.FAILED


def _kill(children: Iterable[int], number: int) -> None:
    for child in children:
        with suppress(ProcessLookupError):  # it has ended meanwhile
            os.kill(child, number)


def _report(descriptor: int) -> None:
    """Reports to the parent that this process serves."""
    with suppress(BrokenPipeError):  # the parent has ended, and this process will
        os.write(descriptor, _PID.pack(os.getpid()))
    os.close(descriptor)
