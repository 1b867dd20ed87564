"""SIGHUP: the log level and the certificate are read again while the service runs."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import ssl
import time
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from tests.support import patience
from tests.support.programs.program import eventually
from tests.support.servers.certificate import self_signed


def lines(program, event):
    logged = [json.loads(line) for line in list(program.errors) if line.startswith("{")]
    return [line for line in logged if line["event"] == event]


def configured(tmp_path, text):
    file = tmp_path / "idp.toml"
    file.write_text(text)
    return str(file)


def reloaded(program, event="reloaded"):
    """The next line that reports a reload."""
    before = len(lines(program, event))
    program.signal(signal.SIGHUP)
    program.wait_for(lambda: len(lines(program, event)) > before, event)
    return lines(program, event)[-1]


def logs_requests(program):
    """Whether a request is logged, as it is at the level `info`."""
    before = len(lines(program, "request"))
    httpx.get(f"{program.issuer}/.well-known/openid-configuration")
    time.sleep(0.05)
    return len(lines(program, "request")) > before


@pytest.mark.parametrize("processes", [1, 2])
def test_the_log_level_changes_at_once(start_program, tmp_path, processes):
    file = configured(tmp_path, 'log_level = "warning"\n')
    program = start_program("--config", file, "--processes", str(processes))
    assert not logs_requests(program)

    configured(tmp_path, 'log_level = "info"\n')
    assert reloaded(program)["changed"] == ["log_level"]
    eventually(lambda: all(logs_requests(program) for _ in range(10)), "the change")
    assert reloaded(program)["changed"] == []


@pytest.mark.parametrize("processes", [1, 2])
def test_a_settings_file_that_cannot_be_used_changes_nothing(start_program, tmp_path, processes):
    file = configured(tmp_path, "")
    program = start_program("--config", file, "--processes", str(processes))
    for text in ("trusted_proxies = [", 'trusted_proxies = ["nowhere"]', "nothing = 1"):
        configured(tmp_path, f'log_level = "error"\n{text}')
        told = reloaded(program, "the settings can't be used; the previous ones stay in force")
        assert str(tmp_path) in told["cause"] or "nowhere" in told["cause"]

    assert logs_requests(program)
    assert program.process.poll() is None


@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize(
    "text", ["x = " + 3000 * "[", f'store = "sqlite:///{300 * "a"}"'], ids=["nested", "name"]
)
def test_a_file_that_nobody_has_thought_of_ends_nothing(start_program, tmp_path, text, processes):
    file = configured(tmp_path, "")
    program = start_program("--config", file, "--processes", str(processes))
    configured(tmp_path, text)
    reloaded(program, "the settings can't be used; the previous ones stay in force")
    program.errors.clear()  # it had to print a traceback
    configured(tmp_path, 'log_level = "debug"\n')

    assert reloaded(program)["changed"] == ["log_level"]


def test_settings_that_need_a_restart_are_named(start_program, tmp_path):
    file = configured(tmp_path, "drain_seconds = 3\n")
    program = start_program("--config", file)
    configured(tmp_path, "drain_seconds = 4\nmax_connections = 100\n")
    told = reloaded(program)

    assert told["changed"] == []
    event = "settings that changed need a restart"
    program.wait_for(lambda: bool(lines(program, event)), event)
    (warning,) = lines(program, event)
    assert sorted(warning["settings"]) == ["drain_seconds", "max_connections"]


def test_a_worker_that_was_replaced_has_the_settings_read_last(start_program, tmp_path):
    file = configured(tmp_path, 'log_level = "warning"\n')
    program = start_program("--config", file, "--processes", "2")
    configured(tmp_path, 'log_level = "info"\n')
    reloaded(program)
    before = program.workers()
    for pid in before:
        os.kill(pid, signal.SIGKILL)
    eventually(
        lambda: len(set(program.workers()) - set(before)) == 2, "new workers", patience.SECONDS
    )
    eventually(lambda: is_ready(program), "an answer")

    assert all(logs_requests(program) for _ in range(6))


def test_a_stop_after_a_storm_of_reloads_is_not_lost(start_program, tmp_path):
    file = configured(tmp_path, "")
    program = start_program("--config", file, "--processes", "2")
    os.unlink(file)
    os.mkfifo(file)  # reading it waits for a writer
    for _ in range(600):
        program.signal(signal.SIGHUP)
        time.sleep(0.0005)
    program.signal()
    time.sleep(0.1)
    eventually(lambda: program.process.poll() is not None or was_read(file), "an end")

    assert program.wait() == 0


@pytest.mark.parametrize("processes", [1, 2])
def test_reloads_until_the_end_of_a_stop_do_not_fail_it(start_program, processes):
    program = start_program("--processes", str(processes))
    everybody = [program.pid, *program.workers()]
    program.signal()
    while program.process.poll() is None:
        for pid in everybody:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGHUP)
        time.sleep(0.001)

    assert program.wait() == 0


def was_read(pipe):
    """Whether a process waits for a writer of the named pipe; it reads nothing from it, then."""
    try:
        writer = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
    except OSError:
        return False
    os.unlink(pipe)
    os.close(writer)
    return True


def is_ready(program):
    try:
        return httpx.get(f"{program.issuer}/readyz").status_code == 200
    except httpx.TransportError:
        return False


def survives_hangup(program):
    """Whether the process ignores SIGHUP or handles it: not yet while Python starts."""
    status = Path(f"/proc/{program.pid}/status").read_text()
    masks = re.findall(r"^Sig(?:Ign|Cgt):\t(\w+)$", status, re.MULTILINE)
    return any(int(mask, 16) >> (signal.SIGHUP - 1) & 1 for mask in masks)


@pytest.mark.parametrize("processes", [1, 2])
def test_reloads_amid_the_start_end_nothing(start_program, processes):
    program = start_program("--processes", str(processes), waits=False)
    eventually(lambda: survives_hangup(program), "its own code")
    while not program.output:
        program.signal(signal.SIGHUP)
        time.sleep(0.02)
        assert program.process.poll() is None, program.printed
    program.announcement = json.loads(program.output[0])

    assert is_ready(program)


def serial(program):
    """The serial number of the certificate that a new connection is shown."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    port = urlsplit(program.issuer).port
    with (
        socket.create_connection(("127.0.0.1", port), 10) as plain,
        context.wrap_socket(plain) as connection,
    ):
        return connection.getpeercert(binary_form=True)


@pytest.mark.parametrize("processes", [1, 2])
def test_a_new_certificate_is_used_after_a_reload(start_program, tmp_path, processes):
    chain, key = self_signed(tmp_path)
    program = start_program("--tls-cert", chain, "--tls-key", key, "--processes", str(processes))
    before = serial(program)
    self_signed(tmp_path)
    program.signal(signal.SIGHUP)

    event = "a new certificate is in use"
    program.wait_for(lambda: len(lines(program, event)) == processes, event)

    assert {serial(program) != before for _ in range(8)} == {True}


def test_a_certificate_that_does_not_fit_its_key_leaves_the_one_before(start_program, tmp_path):
    chain, key = self_signed(tmp_path)
    program = start_program("--tls-cert", chain, "--tls-key", key)
    before = serial(program)
    other = tmp_path / "other"
    other.mkdir()
    self_signed(other)
    (tmp_path / chain).write_bytes((other / chain).read_bytes())
    program.signal(signal.SIGHUP)
    event = "the new certificate can't be used; the previous one stays in use"
    program.wait_for(lambda: bool(lines(program, event)), event)

    assert serial(program) == before
    assert len(lines(program, event)) == 1


def test_reloads_that_were_held_back_in_the_log_are_counted_there(start_program):
    program = start_program("--processes", "2")
    until = time.monotonic() + 0.9  # more of a second than twenty reloads take
    while time.monotonic() < until:
        program.signal(signal.SIGHUP)
        time.sleep(0.005)

    def held_back():
        return sum(line.get("repeated", 0) for line in lines(program, "reloaded"))

    assert eventually(held_back, "a line with their number") > 0
