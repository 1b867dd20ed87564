"""Signals as a queue."""

from __future__ import annotations

import os
import signal

from idp.server.signals import SignalQueue


def test_a_signal_after_very_many_others_is_not_lost():
    with SignalQueue((signal.SIGUSR1, signal.SIGUSR2)) as queue:
        for _ in range(2000):
            os.kill(os.getpid(), signal.SIGUSR1)
        os.kill(os.getpid(), signal.SIGUSR2)
        queue.wait(1)

        assert queue.received()[-1] == signal.SIGUSR2
        assert queue.received() == []
