"""The process of an import runs the installed program, whatever the working directory holds."""

from __future__ import annotations

import json
import time

import httpx
import pytest

from tests.support import patience
from tests.support.transfer.bulk import orgs, package

SPY = "open(__file__ + '.ran', 'w').close()\nraise SystemExit(1)\n"


@pytest.mark.promise("faults: helper processes")
def test_an_import_beside_a_folder_named_idp_runs_none_of_it(start_program, tmp_path):
    for name in ("idp", "storage", "handlers"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(SPY)
    program = start_program("--admin-pat", "pat")
    found = [{**org, "padding": "x" * 50_000} for org in orgs(60)]
    body = json.dumps(package(*found))
    assert len(body) > 256 * 1024  # so a process of its own works on it

    sent = {"Authorization": f"Bearer {program.announcement['adminPat']}"}
    with httpx.Client(base_url=program.issuer, headers=sent, timeout=patience.SECONDS) as client:
        type = {"Content-Type": "application/json"}
        job = client.post("/admin/v1/import?wait=false", content=body, headers=type).json()
        until = time.monotonic() + 30
        while job["state"] in ("JOB_STATE_QUEUED", "JOB_STATE_RUNNING"):
            assert time.monotonic() < until, job
            time.sleep(0.1)
            job = client.get(f"/admin/v1/jobs/{job['jobId']}").json()

    assert job["created"] == 60, job
    assert list(tmp_path.glob("*/*.ran")) == []
