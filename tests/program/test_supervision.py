"""Workers that die, hang or do not start: nobody waits for them, and they are replaced."""

from __future__ import annotations

import json
import os
import resource
import signal
import socket
import time
from contextlib import closing, suppress
from pathlib import Path

import httpx
import pytest

from storage import blocks_writers
from storage.sqlite.locks import FileLock
from tests.support import patience
from tests.support.programs.program import eventually, is_alive, listening_port, stop_running

ROOT = Path(__file__).parents[2]
PROJECTS = "/management/v1/projects"
HEAD = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


def seconds_for_an_answer(port):
    """How long a request on a fresh connection takes; None if it is refused or reset."""
    started = time.monotonic()
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=patience.SECONDS) as connection:
            connection.sendall(HEAD)
            if not connection.recv(4096).startswith(b"HTTP/1.1 200"):
                return None
    except ConnectionError:
        return None
    return time.monotonic() - started


def processor_seconds(pid):
    """What a process and its ended children have used of a processor (proc(5), stat)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def replacements(program):
    """The log lines that report a replaced worker."""
    lines = [json.loads(line) for line in program.errors if line.startswith("{")]
    return [line for line in lines if line["event"] == "worker replaced"]


def is_served(program, killed):
    """Whether two workers listen, none of them among `killed`."""
    workers = program.workers()
    listening = 0
    for pid in workers:
        with suppress(AssertionError):
            listening += listening_port(pid) == program.port
    return listening == 2 and not set(workers) & set(killed)


def test_nobody_waits_for_a_worker_that_was_killed(start_program):
    program = start_program("--processes", "2")
    killed = program.workers()[0]
    os.kill(killed, signal.SIGKILL)
    program.wait_for(lambda: bool(replacements(program)), "word of it")
    waits = [seconds_for_an_answer(program.port) for _ in range(40)]

    assert None not in waits
    eventually(lambda: is_served(program, [killed]), "the replacement")
    (line,) = replacements(program)
    assert (line["reason"], line["exit_code"], line["pause_seconds"]) == ("signal", -9, 0.0)


def test_connections_queued_for_a_killed_worker_are_reset(start_program):
    program = start_program("--processes", "2")
    workers = program.workers()
    stop_running(*workers)
    waiting = [socket.create_connection(("127.0.0.1", program.port), 10) for _ in range(20)]
    for connection in waiting:
        connection.sendall(HEAD)
    for pid in workers:
        os.kill(pid, signal.SIGKILL)
    for connection in waiting:
        connection.settimeout(patience.SECONDS)
        with pytest.raises(ConnectionResetError):
            connection.recv(1)
        connection.close()

    eventually(lambda: is_served(program, workers), "the replacements")


def test_while_no_worker_serves_connections_are_refused_and_the_port_is_nobody_elses(
    start_program,
):
    port = free_port()
    program = start_program(
        *("--processes", "2", "--port", str(port)),
        module="tests.program.dying",
        waits=False,
        PYTHONPATH=ROOT,
    )
    program.wait_for(lambda: len(replacements(program)) > 4, "ends of its workers")

    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), 5)
    with pytest.raises(OSError, match="in use"):
        socket.create_server(("127.0.0.1", port)).close()
    program.kill()


@pytest.mark.load
def test_a_worker_that_stands_still_is_shut_off_then_killed_and_replaced(start_program):
    program = start_program("--processes", "2", IDP_WORKER_TIMEOUT_SECONDS=7)
    frozen = program.workers()[0]
    stop_running(frozen)
    stopped_at = time.monotonic()
    program.wait_for(lambda: "no new connections" in program.printed, "word of it")
    silent = time.monotonic() - stopped_at
    waits = [seconds_for_an_answer(program.port) for _ in range(40)]
    eventually(lambda: is_served(program, [frozen]), "the replacement")

    assert 4.5 < silent < 15
    assert None not in waits
    assert max(waits) < 5
    assert [line["reason"] for line in replacements(program)] == ["hung"]


def test_a_worker_that_comes_back_after_its_socket_was_shut_is_replaced(start_program):
    program = start_program("--processes", "2")
    frozen = program.workers()[0]
    stop_running(frozen)
    program.wait_for(lambda: "no new connections" in program.printed, "word of it")
    os.kill(frozen, signal.SIGCONT)
    eventually(lambda: is_served(program, [frozen]), "the replacement")

    # It was stopped at some moment: perhaps with the store's lock, for which the other one waits.
    # Then it is killed, unless it ends by itself between the supervisor's look and its signal.
    had_lock = "a silent worker blocks the others: it is killed" in program.printed
    (line,) = replacements(program)
    assert line["reason"] == "hung"
    assert line["exit_code"] in ((0, -signal.SIGKILL) if had_lock else (0,))


@pytest.mark.load
def test_a_stopped_worker_without_which_nobody_can_write_is_killed_after_five_seconds(
    start_program, tmp_path
):
    program = start_program("--processes", "2", "--admin-pat", "pat")
    file = tmp_path / "idp-data" / "idp.sqlite3"
    lock = FileLock(f"{file}-lock")
    with closing(lock), lock.held():  # each worker tidies up once a second: one waits at the door
        stopped = eventually(lambda: at_the_door(program, file), "a worker that waits")
        stop_running(stopped)
    stopped_at = time.monotonic()
    program.wait_for(lambda: "no new connections" in program.printed, "word of it")
    sent = {"Authorization": f"Bearer {program.announcement['adminPat']}"}
    made = httpx.post(
        f"{program.issuer}{PROJECTS}", json={"name": "P"}, headers=sent, timeout=patience.SECONDS
    )
    took = time.monotonic() - stopped_at
    eventually(lambda: is_served(program, [stopped]), "the replacement")

    assert made.status_code == 200
    assert 4.5 < took < 15
    assert "a silent worker blocks the others: it is killed" in program.printed
    assert [line["reason"] for line in replacements(program)] == ["hung"]


def at_the_door(program, file):
    """The worker that gets the store's lock next; None while nobody waits for it."""
    waiting = [pid for pid in program.workers() if blocks_writers(f"sqlite:///{file}", pid)]
    return waiting[0] if waiting else None


@pytest.mark.load
def test_a_stop_ends_in_time_with_a_worker_that_stands_still(start_program):
    program = start_program("--processes", "2", IDP_DRAIN_SECONDS=1)
    stop_running(program.workers()[0])
    program.signal()

    assert program.wait(20) == 1
    assert program.workers() == []


@pytest.mark.load
def test_a_stop_ends_in_time_while_the_preparing_process_stands_still(start_program):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(patience.SECONDS)
        port = silent.getsockname()[1]
        store = f"mongodb://127.0.0.1:{port}/idp?serverSelectionTimeoutMS=60000"
        program = start_program(
            "--processes", "2", waits=False, IDP_STORE=store, IDP_DRAIN_SECONDS=1
        )
        silent.accept()[0].close()  # it prepares now, and waits for its store
    (preparing,) = program.workers()
    stop_running(preparing)
    program.signal()

    assert program.wait(20) == 1
    assert not is_alive(preparing)


def test_a_start_whose_process_is_killed_says_so(start_program):
    program = start_program("--processes", "2", waits=False)
    (preparing,) = eventually(program.workers, "the preparing process")
    os.kill(preparing, signal.SIGKILL)

    assert program.wait(patience.SECONDS) == 1
    assert '"the start failed: its process was ended by a signal"' in program.printed


def test_a_worker_for_which_there_is_no_room_is_started_later(start_program):
    program = start_program("--processes", "2")
    soft, hard = resource.prlimit(program.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(program.pid, resource.RLIMIT_NOFILE, (8, hard))
    killed = program.workers()[0]
    os.kill(killed, signal.SIGKILL)
    program.wait_for(lambda: "a worker can't be started" in program.printed, "word of it")
    assert seconds_for_an_answer(program.port) is not None
    resource.prlimit(program.pid, resource.RLIMIT_NOFILE, (soft, hard))

    eventually(lambda: is_served(program, [killed]), "the replacement")


@pytest.mark.load
@pytest.mark.parametrize("with_supervisor", [True, False], ids=["group", "workers"])
def test_a_pause_of_the_whole_group_kills_nobody(start_program, with_supervisor):
    program = start_program("--processes", "2", IDP_WORKER_TIMEOUT_SECONDS=5)
    workers = program.workers()
    stopped = [program.pid, *workers] if with_supervisor else workers
    stop_running(*stopped)
    time.sleep(8)
    for pid in stopped:
        os.kill(pid, signal.SIGCONT)
    time.sleep(3)

    assert seconds_for_an_answer(program.port) is not None
    assert program.workers() == workers


@pytest.mark.load
def test_a_service_whose_workers_end_before_they_serve_gives_up(start_program):
    program = start_program(
        "--processes", "2", module="tests.program.dying", waits=False, PYTHONPATH=ROOT
    )
    started = time.monotonic()
    program.wait_for(lambda: len(replacements(program)) > 3, "ends of its workers")
    paused_at, used = time.monotonic(), processor_seconds(program.pid)
    program.wait_for(lambda: len(replacements(program)) > 8, "more of them", patience.SECONDS)
    busy = (processor_seconds(program.pid) - used) / (time.monotonic() - paused_at)

    assert program.wait(patience.SECONDS) == 1
    assert time.monotonic() - started > 3  # it paused
    assert busy <= 0.05
    assert len(replacements(program)) == 10
    assert program.output == []


def test_the_supervisor_leaves_when_it_is_killed_and_no_port_stays_open(start_program):
    program = start_program("--processes", "2")
    port, workers = program.port, program.workers()
    os.kill(program.pid, signal.SIGKILL)
    program.process.wait(patience.SECONDS)
    eventually(lambda: not any(map(is_alive, workers)), "the workers' end")

    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), 5)
