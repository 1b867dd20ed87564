"""A master key that is replaced under the processes of a running service."""

from __future__ import annotations

import os

import httpx
import pytest

from idp.foundation.randomness import SystemRandom
from idp.keys import key_files
from tests.support.programs.program import run

CALLS = 8  # connections of their own, so that each of two processes gets some
KEY = bytes(range(32))


def create_project(program, pat: str) -> dict:
    """The answer to a call that is stored encrypted, and given again to whoever repeats it."""
    headers = {"Authorization": f"Bearer {pat}", "Idempotency-Key": "once"}
    url = f"{program.issuer}/management/v1/projects"
    return httpx.post(url, json={"name": "Shop"}, headers=headers).raise_for_status().json()


def test_processes_that_know_of_the_new_key_and_those_that_do_not_yet_read_the_same(
    start_program,
):
    program = start_program("--processes", "2", "--admin-pat", "pat")
    pat = program.announcement["adminPat"]
    before = create_project(program, pat)

    ended = run(program.directory, "keys", "master", "rotate")

    assert ended.returncode == 0, ended.stderr
    assert [create_project(program, pat) for _ in range(CALLS)] == [before] * CALLS
    reset = run(program.directory, "admin", "reset-password", "admin@localhost")
    assert reset.returncode == 0, reset.stderr
    assert httpx.get(f"{program.issuer}/readyz").status_code == 200
    again = start_program("--port", "0", "--processes", "2", "--admin-pat", "pat")
    assert [create_project(again, pat) for _ in range(CALLS)] == [before] * CALLS


@pytest.mark.full
@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_keys_that_root_makes_belong_to_the_user_of_the_service(tmp_path):
    key_files.store(tmp_path, KEY, SystemRandom())
    os.chown(tmp_path / "master.key", 12345, 12346)

    key_files.replace(tmp_path, KEY, SystemRandom())

    for name in ("master.key", "master.key.old"):
        found = (tmp_path / name).stat()
        assert (found.st_uid, found.st_gid, found.st_mode & 0o777) == (12345, 12346, 0o600)
