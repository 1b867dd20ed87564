"""A supervised group whose processes and time are simulated."""

from __future__ import annotations

import itertools
import signal

from idp.server import supervision
from idp.server.supervision import SendSignal, StopListening, Supervision
from idp.server.worker_processes import TimeLimits
from idp.start import exit_codes

TICK = supervision.TICK_SECONDS
KILLED = -signal.SIGKILL


class Group:
    """A supervision, and processes that obey it unless they are frozen."""

    def __init__(self, count=2, hang_seconds=30, stop_seconds=10):
        self.now = 100.0
        self.supervision = Supervision(count, TimeLimits(hang_seconds, stop_seconds))
        self.steps = []  # in their order, without signs of life
        self.signs_of_life = 0
        self.signals = []  # (process id, number)
        self.shut_off = []  # process ids whose socket no longer listens
        self.frozen, self.blocking = set(), set()
        self.has_room, self.serves, self.end_code = True, True, None
        self._pids, self._beats, self._ended = itertools.count(1), {}, {}

    @property
    def workers(self):
        """The process ids of the workers, by their index."""
        running = self.supervision.workers()
        return sorted(running, key=running.get)

    def run(self, seconds):
        """Supervises for `seconds`, a tick at a time."""
        end = self.now + seconds
        while self.now < end:
            self.tick()
        return self

    def tick(self, seconds=TICK):
        self.now += seconds
        self._start_due()
        for pid in self.workers:
            if pid not in self.frozen:
                self._beats[self.supervision.workers()[pid]] = self.now
        for pid, code in list(self._ended.items()):
            del self._ended[pid]
            if pid in self.supervision.workers():
                self.do(self.supervision.record_end(self.now, pid, code))
        self.do(
            self.supervision.check(self.now, self._beats.__getitem__, self.blocking.__contains__)
        )

    def do(self, actions):
        for action in actions:
            if isinstance(action, SendSignal):
                for pid in action.pids:
                    self._receive(pid, action.number)
            elif isinstance(action, StopListening):
                self.shut_off.append(action.pid)
            elif action == "watchdog":
                self.signs_of_life += 1
            else:
                self.steps.append(action)

    def kill(self, pid):
        self._ended[pid] = KILLED

    def freeze(self, *pids):
        self.frozen |= set(pids)

    def thaw(self, *pids):
        """Workers continue; one whose socket was shut ends when it sees that."""
        self.frozen -= set(pids)
        self._ended |= {pid: exit_codes.OK for pid in pids if pid in self.shut_off}

    def stop(self, number=signal.SIGTERM):
        self.do(self.supervision.stop(self.now, number))

    def reload(self):
        self.do(self.supervision.record_reload(self.now))

    def received(self, pid):
        return [number for each, number in self.signals if each == pid]

    def _start_due(self):
        for index in self.supervision.due(self.now):
            if self.supervision.is_stopping:
                return
            if not self.has_room:
                self.do(self.supervision.record_failed_start(self.now, index, "no memory"))
                continue
            pid = next(self._pids)
            self.supervision.record_start(self.now, index, pid)
            if self.end_code is not None:
                self._ended[pid] = self.end_code
            elif self.serves:
                self.do(self.supervision.record_serving(pid))

    def _receive(self, pid, number):
        self.signals.append((pid, number))
        if number == signal.SIGKILL:
            self._ended[pid] = KILLED
        elif number == signal.SIGTERM and pid not in self.frozen:
            self._ended.setdefault(pid, exit_codes.OK)
