"""Signals as a queue."""

from __future__ import annotations

import os
import signal

import pytest

from idp.server.signals import SignalQueue


def test_a_signal_after_very_many_others_is_not_lost():
    with SignalQueue((signal.SIGUSR1, signal.SIGUSR2)) as queue:
        for _ in range(2000):
            os.kill(os.getpid(), signal.SIGUSR1)
        os.kill(os.getpid(), signal.SIGUSR2)
        queue.wait(1)

        assert queue.received()[-1] == signal.SIGUSR2
        assert queue.received() == []


@pytest.mark.full
def test_a_reload_ends_neither_a_new_child_nor_a_process_that_is_about_to_end():
    before = signal.getsignal(signal.SIGHUP)
    try:
        with SignalQueue((signal.SIGHUP,)) as queue:
            child = queue.fork()
            if not child:
                os.kill(os.getpid(), signal.SIGHUP)
                os._exit(0)
        os.kill(os.getpid(), signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)

    assert os.waitpid(child, 0)[1] == 0
