"""The service as the first process of a container, without an init."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import patience
from tests.support.programs.program import children, command, environment, eventually

NAMESPACE = (shutil.which("unshare") or "", "--pid", "--fork", "--kill-child")


def can_unshare():
    if not NAMESPACE[0]:
        return False
    return subprocess.run([*NAMESPACE, "true"], capture_output=True, check=False).returncode == 0


pytestmark = pytest.mark.skipif(not can_unshare(), reason="needs a process namespace of its own")

# Leaves two orphans behind, then becomes the service.
ORPHANS = 'for n in 1 2; do (sleep 1 &); done; exec "$@"'


@pytest.fixture
def first(tmp_path):
    """Starts a service as the first process; returns it and its process id outside."""
    started = []

    def start(processes):
        python = [sys.executable, "-P", "-m", "idp"]
        serve = [*python, "serve", "--json", "--port", "0", "--processes", str(processes)]
        outer = subprocess.Popen(
            [*command()[:5], *NAMESPACE, "sh", "-c", ORPHANS, "sh", *serve],
            cwd=tmp_path,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        started.append(outer)
        (inner,) = eventually(lambda: children(outer.pid), "the first process")
        return outer, inner

    yield start
    for each in started:
        each.kill()
        each.wait()
        each.stdout.close()


def sleeping(pid):
    return [child for child in children(pid) if "sleep" in comm(child)]


def comm(pid):
    try:
        return Path(f"/proc/{pid}/comm").read_text()
    except FileNotFoundError:
        return ""


@pytest.mark.full
@pytest.mark.parametrize("processes", [1, 2])
def test_it_reaps_orphans_and_obeys_sigterm(first, processes):
    outer, inner = first(processes)
    assert outer.stdout.readline()
    eventually(lambda: sleeping(inner) == [], "the end of the orphans")
    os.kill(inner, signal.SIGTERM)

    assert outer.wait(patience.SECONDS) == 0


@pytest.mark.full
@pytest.mark.parametrize("processes", [1, 2])
def test_sigterm_ends_it_during_its_start(first, processes):
    outer, inner = first(processes)

    def handles_sigterm():
        status = Path(f"/proc/{inner}/status").read_text()
        caught = int(status.partition("SigCgt:")[2].split()[0], 16)
        return caught >> (signal.SIGTERM - 1) & 1

    eventually(handles_sigterm, "its own code")
    os.kill(inner, signal.SIGTERM)

    assert outer.wait(patience.SECONDS) in {0, 128 + signal.SIGTERM}
    assert outer.stdout.readline() == ""
