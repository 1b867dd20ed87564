"""A program on a full disk answers what needs no write, and tells of it."""

from __future__ import annotations

import os
import subprocess

import httpx
import pytest

from tests.support.skips import skip

PROJECT = "/management/v1/projects"
LIMITED = {"status": "ok", "store": "read-only"}


@pytest.fixture
def disk(tmp_path):
    """A file system of 24 MB."""
    if os.geteuid() != 0:
        skip("only root mounts a file system")
    made = tmp_path / "small"
    made.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(made)]
    if subprocess.run(command, capture_output=True).returncode:
        skip("no file system can be mounted here")
    yield made
    subprocess.run(["umount", "--lazy", str(made)], check=True)


def fill(disk):
    """Leave no room."""
    with (disk / "filler").open("wb", buffering=0) as file:
        for size in (1 << 20, 4096, 1):
            try:
                while file.write(bytes(size)) == size:
                    pass
            except OSError:
                pass


@pytest.mark.promise("faults: readyz")
def test_readyz_says_read_only_from_the_first_failed_write_to_the_first_that_succeeds(
    start_program, disk
):
    program = start_program("--admin-pat", str(disk / "pat"), "--data", str(disk / "data"))
    sent = {"Authorization": f"Bearer {program.announcement['adminPat']}"}
    with httpx.Client(base_url=program.issuer, headers=sent, timeout=30) as client:
        made = client.post(PROJECT, json={"name": "P"})
        assert (made.status_code, client.get("/readyz").json()) == (200, {"status": "ok"})

        fill(disk)
        for _ in range(2000):  # the log may hold some more
            refused = client.post(PROJECT, json={"name": "P" * 200})
            if refused.status_code != 200:
                break
        full = client.get("/readyz")
        found = client.get(f"{PROJECT}/{made.json()['id']}")
        (disk / "filler").unlink()
        again = client.post(PROJECT, json={"name": "P"})
        free = client.get("/readyz")

    assert (refused.status_code, "Retry-After" in refused.headers) == (503, True)
    assert (full.status_code, full.json()) == (200, LIMITED)
    assert found.status_code == 200
    assert (again.status_code, free.json()) == (200, {"status": "ok"})
