"""Metrics of the running program: of one process and of several, whatever happens to them."""

from __future__ import annotations

import json
import os
import signal
import socket
import time
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.support import patience
from tests.support.programs.program import eventually, is_alive

LISTEN = {"IDP_METRICS_LISTEN": "127.0.0.1:0"}


def started(start_program, tmp_path, *flags, **settings):
    """A program that answers scrapes; its counts are in a directory below the test's."""
    (tmp_path / "run").mkdir()
    return start_program(*flags, RUNTIME_DIRECTORY=tmp_path / "run", **LISTEN, **settings)


def metrics_port(program):
    program.wait_for(lambda: "metrics are served" in program.printed, "the listener")
    lines = [json.loads(line) for line in program.errors if line.startswith("{")]
    return next(line["port"] for line in lines if line["event"] == "metrics are served")


def scrape(program, port=None):
    """The values of an answer, by name and labels."""
    url = f"http://127.0.0.1:{port or metrics_port(program)}/metrics"
    with urlopen(url, timeout=patience.SECONDS) as answer:
        text = answer.read().decode()
    return {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def metrics_child(program):
    """The process id of the supervisor's child that is no worker: it maps no database."""
    (found,) = [pid for pid in program.workers() if "counter_metrics.db" in maps_of(pid)]
    return found


def maps_of(pid):
    """The files that a process has mapped; nothing of one that has ended since it was listed."""
    try:
        return Path(f"/proc/{pid}/maps").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def workers(program):
    return [pid for pid in program.workers() if pid != metrics_child(program)]


def measured(program, worker):
    return scrape(program).get(("idp_process_open_fds", ("worker", str(worker))))


def fallen(before, after):
    """The counters that are less than before."""
    counted = ("_total", "_count", "_bucket", "_sum")
    return {
        name: (value, after.get(name))
        for name, value in before.items()
        if name[0].endswith(counted) and after.get(name, 0) < value
    }


def test_one_process_answers_scrapes_and_its_public_port_does_not(start_program, tmp_path):
    program = started(start_program, tmp_path)
    eventually(lambda: measured(program, 0), "its own figures")
    found = scrape(program)
    with pytest.raises(HTTPError) as public:
        urlopen(f"{program.issuer}/metrics", timeout=patience.SECONDS)
    public.value.close()
    program.stop()

    assert found["idp_worker_up", ("worker", "0")] == 1
    assert found["idp_process_memory_bytes", ("worker", "0")] > 10_000_000
    assert public.value.code == 404
    assert not list((tmp_path / "run").iterdir())


def test_a_killed_worker_is_replaced_and_no_counter_falls(start_program, tmp_path):
    program = started(start_program, tmp_path, "--processes", "2", IDP_HASHING_THREADS=1)
    port = metrics_port(program)
    eventually(lambda: measured(program, 0) and measured(program, 1), "the workers' figures")
    before, files = scrape(program, port), list((tmp_path / "run").rglob("*.db"))
    os.kill(workers(program)[0], signal.SIGKILL)
    eventually(
        lambda: scrape(program, port).get(("idp_worker_restarts_total", ("reason", "signal"))),
        "the replacement",
    )
    eventually(lambda: measured(program, 0) and measured(program, 1), "its figures")

    assert before["idp_worker_up", ("worker", "1")] == 1
    assert before["idp_hashing_threads",] == 2
    assert not fallen(before, scrape(program, port))
    assert set((tmp_path / "run").rglob("*.db")) == set(files)


@pytest.mark.load
def test_a_frozen_worker_does_not_stop_a_scrape(start_program, tmp_path):
    program = started(start_program, tmp_path, "--processes", "2")
    port = metrics_port(program)
    eventually(lambda: measured(program, 1), "the workers' figures")
    frozen = workers(program)[0]
    os.kill(frozen, signal.SIGSTOP)
    time.sleep(5.5)  # longer than a worker may be silent
    began = time.monotonic()
    found = scrape(program, port)
    took = time.monotonic() - began
    os.kill(frozen, signal.SIGCONT)

    assert took < 1
    ups = [found["idp_worker_up", ("worker", str(index))] for index in (0, 1)]
    ages = [found["idp_worker_heartbeat_age_seconds", ("worker", str(index))] for index in (0, 1)]
    assert sorted(ups) == [0, 1]
    assert max(ages) > 5 > 1 > min(ages)


@pytest.mark.load
def test_the_child_for_metrics_is_replaced_and_counters_stay(start_program, tmp_path):
    program = started(start_program, tmp_path, "--processes", "2")
    port = metrics_port(program)
    eventually(lambda: measured(program, 1), "the workers' figures")
    before = scrape(program, port)
    killed = metrics_child(program)
    os.kill(killed, signal.SIGKILL)
    eventually(lambda: not is_alive(killed), "its end")

    assert not fallen(before, scrape(program, port))  # the scrape waits for the next child
    assert metrics_child(program) != killed


@pytest.mark.load
def test_after_the_supervisors_death_nothing_is_left(start_program, tmp_path):
    program = started(start_program, tmp_path, "--processes", "2")
    port = metrics_port(program)
    eventually(lambda: measured(program, 1), "the workers' figures")
    left = program.workers()
    program.signal(signal.SIGKILL)
    eventually(lambda: not [pid for pid in left if is_alive(pid)], "their end")

    assert not list((tmp_path / "run").iterdir())
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), 5)


def serving(program, number):
    """The process ids of the workers, once so many serve."""
    indices = [("worker", str(index)) for index in range(number)]

    def all_of_them():
        alive, found = [pid for pid in workers(program) if is_alive(pid)], scrape(program)
        is_up = all(found.get(("idp_worker_up", each)) for each in indices)
        return is_up and len(alive) == number and alive

    return eventually(all_of_them, f"{number} workers")


@pytest.mark.load
def test_100_replaced_workers_leave_no_file_and_no_counter_falls(start_program, tmp_path):
    rounds, number = 5, 21
    program = started(start_program, tmp_path, "--processes", str(number))
    before, files = {}, set()
    for _ in range(rounds):
        pids = serving(program, number)
        files = files or set((tmp_path / "run").rglob("*"))
        for pid in pids[1:]:  # one goes on serving
            os.kill(pid, signal.SIGKILL)
        eventually(lambda pids=pids: not any(map(is_alive, pids[1:])), "their end")
        after = scrape(program)
        assert not fallen(before, after)
        before = after

    serving(program, number)
    after = scrape(program)
    assert not fallen(before, after)
    assert after["idp_worker_restarts_total", ("reason", "signal")] == 100
    assert set((tmp_path / "run").rglob("*")) == files


def test_an_address_that_is_taken_is_refused_as_the_port_is(start_program, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        program = start_program("--processes", "2", waits=False, IDP_METRICS_LISTEN=address)
        code = program.wait()

    assert code == 2
    assert f"{address} can't be listened on: Address already in use" in program.printed
    assert not (tmp_path / "idp-data").exists()
