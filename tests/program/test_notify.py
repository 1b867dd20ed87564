"""Messages to the service manager, as systemd expects them (sd_notify(3))."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from tests.support.programs.program import eventually
from tests.support.programs.service_manager import service_manager  # noqa: F401  a fixture

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("processes", [1, 2])
def test_the_manager_learns_of_start_reload_and_stop_in_order(start_program, manager, processes):
    program = start_program("--processes", str(processes), NOTIFY_SOCKET=manager.address)
    assert eventually(lambda: manager.states() == ["READY=1"], "READY")
    program.signal(signal.SIGHUP)
    eventually(lambda: len(manager.states()) == 3, "the reload")
    program.signal()
    assert program.wait() == 0

    assert manager.states() == ["READY=1", "RELOADING=1", "READY=1", "STOPPING=1"]
    (reloading,) = [each for each in manager.messages() if each.startswith("RELOADING")]
    moment = int(reloading.partition("MONOTONIC_USEC=")[2])
    assert 0 <= time.monotonic_ns() // 1000 - moment < 60_000_000


@pytest.mark.parametrize("processes", [1, 2])
def test_reloads_amid_start_and_stop_announce_nothing(start_program, manager, processes):
    options = {"NOTIFY_SOCKET": manager.address, "IDP_SHUTDOWN_DELAY_SECONDS": 1}
    program = start_program("--processes", str(processes), waits=False, **options)
    if processes > 1:
        eventually(program.workers, "the preparing process")
        program.signal(signal.SIGHUP)
    program.wait_for(lambda: bool(program.output), "its JSON line")
    eventually(lambda: manager.states() == ["READY=1"], "READY")
    program.signal()
    eventually(lambda: manager.states() == ["READY=1", "STOPPING=1"], "STOPPING")
    program.signal(signal.SIGHUP)

    assert program.wait() == 0
    assert manager.states() == ["READY=1", "STOPPING=1"]


@pytest.mark.load
@pytest.mark.parametrize("processes", [1, 2])
def test_a_start_that_upgrades_what_is_stored_asks_for_more_time(
    start_program, installed, manager, processes
):
    options = {"NOTIFY_SOCKET": manager.address, "PYTHONPATH": ROOT}
    module = "tests.program.slow_upgrade"
    program = start_program("--processes", str(processes), module=module, **options)
    eventually(lambda: "READY=1" in manager.states(), "READY")
    extended = [each for each in manager.states() if each.startswith("EXTEND_TIMEOUT")]

    assert len(extended) == 2
    assert set(extended) == {"EXTEND_TIMEOUT_USEC=60000000"}
    assert manager.states()[-1] == "READY=1"
    program.stop()


def test_signs_of_life_are_sent_where_they_are_expected(start_program, manager):
    start_program(NOTIFY_SOCKET=manager.address, WATCHDOG_USEC=400_000)

    eventually(lambda: manager.signs_of_life() > 5, "signs of life")


@pytest.mark.load
def test_a_group_in_which_no_worker_runs_gives_no_sign_of_life(start_program, manager):
    options = {"NOTIFY_SOCKET": manager.address, "WATCHDOG_USEC": 400_000}
    program = start_program("--processes", "2", **options)
    eventually(lambda: manager.signs_of_life() > 5, "signs of life")
    for pid in program.workers():
        os.kill(pid, signal.SIGSTOP)
    time.sleep(6)
    silent_at = manager.signs_of_life()
    time.sleep(1)

    assert manager.signs_of_life() == silent_at
    program.kill()


def test_without_a_manager_nothing_is_sent(start_program, tmp_path):
    program = start_program(NOTIFY_SOCKET=str(tmp_path / "nobody"))
    program.stop()

    assert [line for line in program.errors if '"level":"info"' not in line] == []
