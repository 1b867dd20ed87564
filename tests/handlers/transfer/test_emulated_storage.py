"""Exports and imports through object storage, with Google's library and an emulator of it."""

from __future__ import annotations

import pytest
from gcp_storage_emulator.server import create_server

from tests.support.management.callers import instance_owner
from tests.support.servers.bucket import ACCOUNT, packed
from tests.support.transfer.bulk import imported, orgs, package

PLACE = {"bucket": "acme-exports", "path": "a/b.json", "serviceaccount_json": packed(ACCOUNT)}


@pytest.fixture
def settings():
    server = create_server("127.0.0.1", 0, in_memory=True, default_bucket="acme-exports")
    server.start()
    yield {"gcs_endpoint": f"http://127.0.0.1:{server._api._httpd.server_address[1]}"}
    server.stop()


@pytest.mark.full
@pytest.mark.promise("export: gcs_output", "import: data_orgsv1_gcs")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
async def test_an_export_goes_out_and_comes_in(server, visitor):
    owner = await instance_owner(server, visitor)
    await imported(owner, package(*orgs(3)))

    page = await owner.post("/admin/v1/export", {"org_ids": ["o0", "o2"], "gcs_output": PLACE})
    assert page.json()["output"]["path"] == "a/b.json"
    found = await imported(owner, {"data_orgsv1_gcs": PLACE})

    assert "errors" not in found
    assert found["skipped"] == found["total"]
