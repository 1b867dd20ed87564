"""Several processes on one port: a parent that starts workers, replaces them and stops them.

The parent opens nothing: no store, no threads, no event loop. One child prepares everything and
returns the announcement; then the workers are started, each with a socket of its own. What happens
to them and when, `idp.server.supervision` decides; here are the processes, signals and sockets.
When the parent itself is killed, its end of a pipe closes, and the workers finish their requests
and end.
"""

from __future__ import annotations

import os
import signal
import socket
import struct
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Final

from idp.foundation import logs, metrics
from idp.foundation.clock import Timer
from idp.server import forking
from idp.server.heartbeats import Heartbeats
from idp.server.metrics_child import MetricsChild
from idp.server.notify import Notifier
from idp.server.port import Port, stop_listening
from idp.server.signals import SignalQueue
from idp.server.supervision import (
    TICK_SECONDS,
    Action,
    SendSignal,
    Step,
    StopListening,
    Supervision,
    own_exit_code,
)
from idp.server.worker_processes import ProcessFunctions, TimeLimits, WorkerContext
from idp.start import exit_codes

_STOP_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
_PID: Final = struct.Struct("=i")

_log: Final = logs.logger(__name__)


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
        timer: Timer,
    ) -> None:
        self._port = port
        self._functions = functions
        self._notifier = notifier
        self._timer = timer
        self._heartbeats = Heartbeats(count, timer)
        self._supervision = Supervision(count, limits)
        self._sockets: dict[int, socket.socket] = {}  # the parent's copies, by process id
        self._steps: dict[Step, Callable[[], None]] = {
            "close port": port.close,
            "ready": lambda: notifier.ready("serving"),
            "stopping": notifier.stopping,
            "watchdog": notifier.watchdog,
        }
        self._parent_read_end, self._parent_write_end = os.pipe()
        self._ready_read_end, self._ready_write_end = os.pipe()
        answer = functions.answer_scrapes
        self._metrics_child = MetricsChild(
            answer and (lambda: answer(self._parent_read_end, self._heartbeats)), timer
        )

    def run(self, announce: Callable[[bytes], None]) -> None:
        """Starts the processes; calls `announce` with what `prepare` returned once all workers
        serve, and returns when every worker has ended after SIGTERM or SIGINT.

        Raises SystemExit if the start failed, or a worker could not finish its work.
        """
        with SignalQueue((*_STOP_SIGNALS, signal.SIGCHLD, signal.SIGHUP)) as self._signals:
            announcement = self._prepare()
            self._steps["announce"] = lambda: announce(announcement)
            forking.share_memory()
            while not self._supervision.is_over:
                self._start_due()
                self._wait()
                self._reap()
                self._check()
                logs.report_repetitions()
            self._metrics_child.stop()
        if self._supervision.exit_code != exit_codes.OK:
            raise SystemExit(self._supervision.exit_code)

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
        self._supervision.record_preparation(child)
        os.close(write)
        with os.fdopen(read, "rb") as pipe:
            while not self._signals.wait(TICK_SECONDS, read):
                self._handle_signals()
                self._check()
                if self._heartbeats.is_beating(0):
                    self._notifier.starting()
            announcement = pipe.read()
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        self._supervision.record_preparation(None)
        if code != exit_codes.OK and not self._supervision.is_stopping:
            if code < 0:
                _log.error("the start failed: its process was ended by a signal", signal=-code)
            raise SystemExit(own_exit_code(code))
        return announcement

    def _start_due(self) -> None:
        """Starts the children that are due, unless all are stopping."""
        if not self._supervision.is_stopping:
            self._metrics_child.start_if_due(self._fork)
        now = self._timer.monotonic()
        for index in self._supervision.due(now):
            if self._supervision.is_stopping:
                return
            try:
                self._start(now, index)
            except OSError as error:  # no process, descriptor or memory is left
                self._do(self._supervision.record_failed_start(now, index, error.strerror))

    def _start(self, now: float, index: int) -> None:
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
        self._sockets[child] = context.listening_socket
        self._supervision.record_start(now, index, child)

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
        for listening_socket in self._sockets.values():
            listening_socket.close()

    def _wait(self) -> None:
        """Waits for a signal, a worker that serves, or the next tick, and handles it."""
        seconds = self._supervision.seconds_to_wait(self._timer.monotonic())
        if self._signals.wait(seconds, self._ready_read_end):
            for (pid,) in _PID.iter_unpack(os.read(self._ready_read_end, 64 * _PID.size)):
                self._do(self._supervision.record_serving(pid))
        self._handle_signals()

    def _handle_signals(self) -> None:
        numbers = self._signals.received()
        for number in numbers:
            if number in _STOP_SIGNALS:
                self._do(self._supervision.stop(self._timer.monotonic(), number))
        if signal.SIGHUP in numbers and not self._supervision.is_stopping:
            self._reload_all()

    def _reload_all(self) -> None:
        """Reads the settings again, and has the workers do the same."""
        is_announced = self._supervision.is_announced
        if is_announced:
            self._notifier.reloading()
        if self._functions.reload() is not None:
            self._do(self._supervision.record_reload(self._timer.monotonic()))
        if is_announced:
            self._notifier.ready("serving")

    def _reap(self) -> None:
        """Reaps every child that has ended."""
        while True:
            try:
                child, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if not child:
                return
            code = os.waitstatus_to_exitcode(status)
            self._metrics_child.record_end(child, code)
            index = self._supervision.workers().get(child)
            if index is not None:  # a container's first process inherits every orphan
                self._sockets.pop(child).close()
                metrics.remove_running(str(index))
                self._do(self._supervision.record_end(self._timer.monotonic(), child, code))

    def _check(self) -> None:
        now, functions = self._timer.monotonic(), self._functions
        self._do(self._supervision.check(now, self._heartbeats.last_beat, functions.blocks_others))

    def _do(self, actions: Iterable[Action]) -> None:
        for action in actions:
            if isinstance(action, SendSignal):
                _kill(action.pids, action.number)
            elif isinstance(action, StopListening):
                stop_listening(self._sockets[action.pid])
                _log.warning("a worker is silent: it gets no new connections", worker=action.index)
            else:
                self._steps[action]()


def _kill(children: Iterable[int], number: int) -> None:
    for child in children:
        with suppress(ProcessLookupError):  # it has ended meanwhile
            os.kill(child, number)


def _report(descriptor: int) -> None:
    """Reports to the parent that this process serves."""
    with suppress(BrokenPipeError):  # the parent has ended, and this process will
        os.write(descriptor, _PID.pack(os.getpid()))
    os.close(descriptor)
