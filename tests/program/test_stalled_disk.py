"""A disk stalls for some seconds under a program: its processes stay, and go on afterwards."""

from __future__ import annotations

import time
from contextlib import closing

import httpx
import pytest

from tests.support import patience
from tests.support.programs.disks import MIB, StallingDisk

PROJECT = "/management/v1/projects"
STALL_SECONDS = 3


@pytest.fixture
def disk(tmp_path):
    with closing(StallingDisk(tmp_path / "disk", 64 * MIB)) as made:
        yield made


@pytest.mark.full
def test_a_write_waits_for_the_disk_and_no_process_is_ended(start_program, disk):
    data = str(disk.path / "data")
    program = start_program("--processes", "2", "--admin-pat", "pat", "--data", data)
    workers = program.workers()
    sent = {"Authorization": f"Bearer {program.announcement['adminPat']}"}
    with httpx.Client(base_url=program.issuer, headers=sent, timeout=patience.SECONDS) as client:
        with disk.stalled(STALL_SECONDS):
            began = time.monotonic()
            made = client.post(PROJECT, json={"name": "meanwhile"})
            took = time.monotonic() - began
        found = client.get(f"{PROJECT}/{made.json()['id']}")
        again = client.post(PROJECT, json={"name": "after"})

    assert (made.status_code, found.status_code, again.status_code) == (200, 200, 200)
    assert took > STALL_SECONDS / 2
    assert program.workers() == workers
    assert "no new connections" not in program.printed
