"""A program on a full disk answers what needs no write, and says so."""

from __future__ import annotations

import time

import httpx
import pytest

from tests.support import patience
from tests.support.programs.disks import MIB, small_disk

PROJECT = "/management/v1/projects"
LIMITED = {"status": "ok", "store": "read-only"}


@pytest.fixture
def disk(tmp_path):
    with small_disk(tmp_path / "small", 24 * MIB) as made:
        yield made


@pytest.mark.promise("faults: readyz")
def test_readyz_says_read_only_from_the_first_failed_write_to_the_first_that_succeeds(
    start_program, disk
):
    data, token = disk.path / "data", disk.path / "pat"
    program = start_program("--admin-pat", str(token), "--data", str(data))
    sent = {"Authorization": f"Bearer {program.announcement['adminPat']}"}
    with httpx.Client(base_url=program.issuer, headers=sent, timeout=patience.SECONDS) as client:
        made = client.post(PROJECT, json={"name": "P"})
        assert (made.status_code, client.get("/readyz").json()) == (200, {"status": "ok"})

        disk.fill()
        for _ in range(2000):  # the log may hold some more
            refused = client.post(PROJECT, json={"name": "P" * 200})
            if refused.status_code != 200:
                break
        full = client.get("/readyz")
        found = client.get(f"{PROJECT}/{made.json()['id']}")
        disk.empty()
        freed_at = time.monotonic()
        again = client.post(PROJECT, json={"name": "P"})
        took = time.monotonic() - freed_at
        free = client.get("/readyz")

    assert (refused.status_code, "Retry-After" in refused.headers) == (503, True)
    assert (full.status_code, full.json()) == (200, LIMITED)
    assert found.status_code == 200
    assert (again.status_code, free.json()) == (200, {"status": "ok"})
    assert took < 5
