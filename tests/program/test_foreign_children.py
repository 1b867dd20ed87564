"""A service that is a container's first process inherits children that are not its own."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import httpx
import pytest

from tests.support import patience
from tests.support.programs.program import children, command, environment, eventually


def names(pid: int) -> list[str]:
    return [Path(f"/proc/{child}/comm").read_text().strip() for child in children(pid)]


@pytest.mark.full
def test_the_end_of_a_child_that_is_no_worker_harms_nobody(tmp_path):
    serve = command("serve", "--json", "--port", "0", "--processes", "2")
    process = subprocess.Popen(
        ["sh", "-c", 'sleep 3 & exec "$@"', "sh", *serve],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    told = json.loads(process.stdout.readline())
    eventually(lambda: "sleep" not in names(process.pid), "the end of the child")

    assert len(children(process.pid)) == 2
    assert httpx.get(f"{told['issuer']}/readyz").status_code == 200
    process.terminate()
    assert process.wait(patience.SECONDS) == 0
    process.stdout.close()
