"""Exports and imports through servers of Google Cloud Storage and S3, and through no other."""

from __future__ import annotations

from urllib.request import Request, urlopen

import pytest

from tests.support.management.callers import instance_owner, refused
from tests.support.servers.bucket import ACCOUNT, HEADERS, packed
from tests.support.store.stored import everything
from tests.support.transfer.bulk import imported, orgs, package

EXPORT = "/admin/v1/export"
LOCATION = {"bucket": "acme", "path": "a/b.json"}
ACCOUNT_OF_S3 = {"access_key_id": "AKIDEXAMPLE", "secret_access_key": "wJalrXUtnFEMI/K7MDENG"}


@pytest.fixture
def gcs(monkeypatch):
    from gcp_storage_emulator import server as emulator

    class Handler(emulator.RequestHandler):
        def end_headers(self):
            # Google sends these, the emulator does not.
            for name, value in HEADERS.items():
                self.send_header(name, value)
            super().end_headers()

    monkeypatch.setattr(emulator, "RequestHandler", Handler)
    server = emulator.create_server("127.0.0.1", 0, in_memory=True, default_bucket="acme")
    server.start()
    yield f"http://127.0.0.1:{server._api._httpd.server_address[1]}"
    server.stop()


@pytest.fixture
def s3():
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer("127.0.0.1", 0)
    server.start()
    host, port = server.get_host_and_port()
    with urlopen(Request(f"http://{host}:{port}/acme", method="PUT")):  # noqa: S310
        yield f"{host}:{port}"
    server.stop()


@pytest.fixture
def settings(request):
    if "s3" not in request.fixturenames:
        return {}
    gcs, s3 = request.getfixturevalue("gcs"), request.getfixturevalue("s3")
    return {"gcs_endpoint": gcs, "object_storage_servers": (f"http://{s3}",)}


@pytest.mark.full
@pytest.mark.promise(
    "export: gcs_output", "export: s3_output, azure_output", "import: data_orgsv1_gcs"
)
@pytest.mark.filterwarnings("ignore")
async def test_an_export_goes_out_and_comes_in(server, visitor, gcs, s3):
    owner = await instance_owner(server, visitor)
    await imported(owner, package(*orgs(3)))
    of_s3 = LOCATION | ACCOUNT_OF_S3 | {"endpoint": s3, "ssl": False}
    of_gcs = LOCATION | {"serviceaccount_json": packed(ACCOUNT)}

    for vendor, location in (("s3", of_s3), ("gcs", of_gcs)):
        body = {"org_ids": ["o0", "o2"], f"{vendor}_output": location}
        page = await owner.post(EXPORT, body)
        assert page.json()["output"]["path"] == "a/b.json", page.text
        found = await imported(owner, {f"data_orgsv1_{vendor}": location})

        assert "errors" not in found
        assert found["skipped"] == found["total"]

    again = await owner.post(EXPORT, {"s3_output": of_s3})
    assert "object_storage.exists" in again.text


S3 = {
    "bucket": "acme",
    "path": "a/b.json",
    "accessKeyId": "AKIDEXAMPLE",
    "secretAccessKey": "wJalrXUtnFEMI/K7MDENG",
}
AZURE = {"account": "acme", "container": "exports", "path": "a", "accessKey": "c2VjcmV0"}
OTHERS = {
    "another host": ("s3Output", S3 | {"endpoint": "10.0.0.1:9000"}),
    "plain HTTP": ("s3Output", S3 | {"ssl": False}),
    "a customer of the vendor": ("s3Output", S3 | {"endpoint": "ec2-1.compute.amazonaws.com"}),
    "metadata": ("s3Output", S3 | {"endpoint": "169.254.169.254", "ssl": False}),
    "another host for Azure": ("azureOutput", AZURE | {"endpoint": "evil.example"}),
}


@pytest.mark.promise("export: s3_output, azure_output")
@pytest.mark.parametrize("name", OTHERS)
async def test_a_server_that_is_not_listed_is_refused_before_anything_is_exported(
    server, owner, name
):
    member, location = OTHERS[name]
    before = await everything(server.store)

    page = await owner.post(EXPORT, {member: location})

    assert refused(page, 400, 3) == {f"{member}.endpoint": "object_storage.endpoint"}
    assert await everything(server.store) == before


async def test_only_one_place_is_written_to(owner):
    page = await owner.post(EXPORT, {"azureOutput": AZURE, "s3Output": S3})

    assert refused(page, 400, 3) == {"azureOutput": "field.conflict"}
