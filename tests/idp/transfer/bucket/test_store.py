"""Object storage: what is read is whole, nothing goes elsewhere, all ends in time."""

from __future__ import annotations

import asyncio
import re
import sys
from types import SimpleNamespace

import pytest

from idp.config.settings import Config
from idp.foundation.errors import Busy
from idp.schema import reading
from idp.transfer.bucket import store as bucket_store
from idp.transfer.bucket.errors import ObjectStorageFailed
from idp.transfer.bucket.location import AzureLocation, GcsLocation, S3Location
from tests.support import patience
from tests.support.patience import until
from tests.support.servers.bucket import (
    ACCOUNT,
    EMAIL,
    MEDIA,
    PEM,
    UPLOAD,
    endless,
    packed,
    serving,
    silent,
    slow,
    told,
)

GCS = reading.read(
    GcsLocation,
    {"bucket": "acme", "path": "a/b.json", "serviceaccountJson": packed(ACCOUNT)},
)
KEY = "wJalrXUtnFEMI/K7MDENG"
PACKAGE = b'{"orgs":[]}'
MOST = 1000


@pytest.fixture
def bucket():
    with serving() as server:
        server.answers = {MEDIA: told(200, PACKAGE), UPLOAD: told(200)}
        yield server


@pytest.fixture
def elsewhere():
    with serving() as server:
        yield server


def s3(host, **changes):
    document = {
        "bucket": "acme",
        "path": "a/b.json",
        "accessKeyId": "AKIDEXAMPLE",
        "secretAccessKey": KEY,
        "endpoint": host,
        "ssl": False,
    }
    return reading.read(S3Location, document | changes)


def azure(host, **changes):
    document = {"account": "acme", "container": "acme", "path": "a/b.json"}
    return reading.read(AzureLocation, document | {"endpoint": host, "ssl": False} | changes)


def location_of(vendor, server):
    host = server.url.removeprefix("http://")
    if vendor == "azure":
        return azure(host, accessKey="c2VjcmV0")
    return GCS if vendor == "gcs" else s3(host)


def service(url, addresses=(), **settings):
    async def resolve(host):
        return addresses

    config = Config(gcs_endpoint=url, object_storage_servers=(url,), **settings)
    return SimpleNamespace(config=config, outgoing=SimpleNamespace(addresses=resolve))


async def fetched(server, into, seconds=20.0, location=GCS):
    await bucket_store.fetch(service(server.url), location, into, seconds, MOST)
    return into.read_bytes()


async def refusal(call):
    with pytest.raises(ObjectStorageFailed) as refused:
        await call
    told_of_it = f"{refused.value} {refused.value.cause} {refused.value!r}"
    assert not any(secret in told_of_it for secret in (EMAIL, PEM[40:80], KEY, "Bearer"))
    return refused.value.error_code


# Every vendor

VENDORS = ["gcs", "s3", "azure"]


@pytest.mark.parametrize("vendor", VENDORS)
async def test_an_object_is_read_into_a_file_of_this_process_alone(bucket, tmp_path, vendor):
    assert await fetched(bucket, tmp_path / "in", location=location_of(vendor, bucket)) == PACKAGE

    assert (tmp_path / "in").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("vendor", VENDORS)
async def test_an_object_is_written_in_one_request_and_only_if_there_is_none(
    bucket, tmp_path, vendor
):
    location = location_of(vendor, bucket)
    (tmp_path / "out").write_bytes(b"x" * 9_000_000)

    await bucket_store.put(service(bucket.url), location, tmp_path / "out", 20)

    ((_, headers, body),) = bucket.seen
    condition = "x-goog-if-generation-match" if vendor == "gcs" else "if-none-match"
    assert headers[condition] == ("0" if vendor == "gcs" else "*")
    assert body == b"x" * 9_000_000


async def test_over_plain_http_nothing_of_the_account_of_google_is_sent(bucket, tmp_path):
    await fetched(bucket, tmp_path / "in")

    assert not [headers for _, headers, _ in bucket.seen if "authorization" in headers]
    assert EMAIL not in repr(bucket.seen)


async def test_the_secret_of_s3_signs_and_is_not_sent(bucket, tmp_path):
    host = bucket.url.removeprefix("http://")
    (tmp_path / "out").write_bytes(PACKAGE)

    await bucket_store.put(service(bucket.url), s3(host, region="eu-1"), tmp_path / "out", 20)

    ((_, headers, _),) = bucket.seen
    assert re.search(r"AKIDEXAMPLE/[0-9]+/eu-1/s3/", headers["authorization"])
    assert re.fullmatch("[0-9a-f]{64}", headers["x-amz-content-sha256"])
    assert KEY not in repr(bucket.seen)


async def test_a_shared_access_signature_is_sent_as_it_is(bucket, tmp_path):
    bucket.answers = {"GET /acme/acme/a/b.json?sv=1&sig=a%2Bb ": told(200, PACKAGE)}
    location = azure(bucket.url.removeprefix("http://"), sasToken="sv=1&sig=a%2Bb")

    assert await fetched(bucket, tmp_path / "in", location=location) == PACKAGE


# What the environment says

ENVIRONMENT = {
    "ENVIRONMENT": (
        "AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AZURE_CLIENT_ID "
        "AZURE_CLIENT_SECRET AZURE_TENANT_ID AZURE_STORAGE_TOKEN"
    ),
    "URL": (
        "AWS_ENDPOINT AWS_ENDPOINT_URL AWS_ENDPOINT_URL_S3 AWS_METADATA_ENDPOINT "
        "AWS_CONTAINER_CREDENTIALS_FULL_URI AWS_STS_ENDPOINT AWS_PROXY_URL "
        "AZURE_AUTHORITY_HOST AZURITE_BLOB_STORAGE_URL AZURE_ENDPOINT "
        "AZURE_MSI_ENDPOINT AZURE_IDENTITY_ENDPOINT HTTP_PROXY http_proxy ALL_PROXY"
    ),
    "environment": (
        "AWS_REGION AWS_DEFAULT_REGION AWS_BUCKET AZURE_STORAGE_ACCOUNT_NAME AZURE_CONTAINER_NAME"
    ),
    "true": (
        "AWS_SKIP_SIGNATURE AWS_UNSIGNED_PAYLOAD AWS_VIRTUAL_HOSTED_STYLE_REQUEST "
        "AWS_S3_EXPRESS AZURE_STORAGE_USE_EMULATOR AZURE_USE_FABRIC_ENDPOINT "
        "AZURE_USE_AZURE_CLI AZURE_SKIP_SIGNATURE"
    ),
    "/x": "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "/etc/hostname": "AWS_WEB_IDENTITY_TOKEN_FILE AZURE_FEDERATED_TOKEN_FILE",
    "arn:aws:iam::1:role/x": "AWS_ROLE_ARN",
    "requester": "AWS_REQUEST_PAYER",
    "disabled": "AWS_CONDITIONAL_PUT",
    "ZW52": "AZURE_STORAGE_ACCOUNT_KEY",
    "managed_identity": "AZURE_CREDENTIAL_TYPE",
    "sig=ENVIRONMENT": "AZURE_STORAGE_SAS_KEY",
    "*": "NO_PROXY",
}


@pytest.mark.parametrize("vendor", VENDORS)
async def test_nothing_of_the_environment_chooses_server_or_credentials(
    bucket, elsewhere, tmp_path, monkeypatch, vendor
):
    for value, names in ENVIRONMENT.items():
        for name in names.split():
            monkeypatch.setenv(name, elsewhere.url if value == "URL" else value)
    location = location_of(vendor, bucket)
    (tmp_path / "out").write_bytes(PACKAGE)

    await bucket_store.put(service(bucket.url), location, tmp_path / "out", 20)
    assert await fetched(bucket, tmp_path / "in", location=location) == PACKAGE

    assert elsewhere.connections == 0
    assert "environment" not in repr(bucket.seen).lower()
    scheme = {"gcs": "", "s3": "AWS4-HMAC-SHA256 Credential=AKID", "azure": "SharedKey acme:"}
    authorizations = [headers.get("authorization", "") for _, headers, _ in bucket.seen]
    assert all(each.startswith(scheme[vendor]) for each in authorizations)
    assert "if-none-match" in bucket.seen[0][1] or vendor == "gcs"


@pytest.mark.parametrize(
    "name",
    [
        "AWS_SERVER_SIDE_ENCRYPTION",
        "AWS_SSE_CUSTOMER_KEY_BASE64",
        "AWS_CHECKSUM_ALGORITHM",
        "AZURE_ENCRYPTION_KEY",
        "GOOGLE_SERVICE_ACCOUNT",
        "google_application_credentials",
    ],
)
async def test_a_variable_that_cant_be_overridden_ends_the_transfer(
    bucket, tmp_path, monkeypatch, name
):
    monkeypatch.setenv(name, "/etc/hostname")

    with pytest.raises(ObjectStorageFailed) as refused:
        await fetched(bucket, tmp_path / "in")

    assert refused.value.error_code == "object_storage.unreachable"
    assert name in refused.value.cause
    assert bucket.connections == 0


# Other servers


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_no_redirect_leads_to_another_host(bucket, elsewhere, tmp_path, status, vendor):
    location = location_of(vendor, bucket)
    there = elsewhere.url.replace("127.0.0.1", "localhost")
    bucket.answers = dict.fromkeys(bucket.answers, told(status, Location=f"{there}/x"))
    (tmp_path / "out").write_bytes(PACKAGE)

    put = bucket_store.put(service(bucket.url), location, tmp_path / "out", 20)

    assert await refusal(fetched(bucket, tmp_path / "in", location=location)) == UNREACHABLE
    assert await refusal(put) == UNREACHABLE
    assert elsewhere.connections == 0


UNREACHABLE, ENDPOINT = "object_storage.unreachable", "object_storage.endpoint"
PUBLIC = {"issuer": "https://id.example.com"}


@pytest.mark.parametrize(
    ("endpoint", "ssl", "addresses", "error_code"),
    [
        (None, True, ["3.5.0.1"], None),
        ("s3.amazonaws.com", True, ["3.5.0.1"], None),
        ("s3.dualstack.eu-west-1.amazonaws.com", True, ["3.5.0.1", "2600:1fa0::1"], None),
        (None, True, ["3.5.0.1", "10.0.0.1"], ENDPOINT),
        (None, True, ["169.254.169.254"], ENDPOINT),
        (None, True, ["::ffff:127.0.0.1"], ENDPOINT),
        ("s3.amazonaws.com", False, ["3.5.0.1"], ENDPOINT),
        ("s3.amazonaws.com:22", True, ["3.5.0.1"], ENDPOINT),
        ("acme.s3.amazonaws.com", True, ["3.5.0.1"], ENDPOINT),
        ("ec2-3-5-0-1.compute-1.amazonaws.com", True, ["3.5.0.1"], ENDPOINT),
        ("s3.amazonaws.com.evil.example", True, ["3.5.0.1"], ENDPOINT),
        ("3.5.0.1", True, ["3.5.0.1"], ENDPOINT),
        ("minio.internal:9000", False, ["10.0.0.1"], None),
        ("minio.internal:9001", False, ["10.0.0.1"], ENDPOINT),
        ("minio.internal:9000", True, ["10.0.0.1"], ENDPOINT),
    ],
)
async def test_only_a_vendors_public_address_or_a_listed_server_is_called(
    endpoint, ssl, addresses, error_code
):
    changes = {"ssl": ssl} if endpoint else {"ssl": ssl, "region": "eu-west-1"}
    location = s3(endpoint or "s3.eu-west-1.amazonaws.com", **changes)
    caller = service("http://minio.internal:9000", addresses, **PUBLIC)

    check = bucket_store.check_server(caller, location)

    assert (await check if error_code is None else await refusal(check)) == error_code


# Servers that answer wrongly, slowly or not at all

HOSTILE = {
    "forbidden": (told(403), "object_storage.forbidden"),
    "not known": (told(401), "object_storage.forbidden"),
    "absent": (told(404), "object_storage.not_found"),
    "a bad request": (told(400), UNREACHABLE),
    "too large": (told(200, b"x" * 1001), "object_storage.too_large"),
    "no length": (endless, UNREACHABLE),
    "no HTTP": (lambda handler: handler.wfile.write(b"x\r\n\r\n"), UNREACHABLE),
    "not modified": (told(304), UNREACHABLE),
}


@pytest.mark.parametrize("name", HOSTILE)
async def test_what_is_no_whole_object_is_not_taken(bucket, tmp_path, name):
    bucket.answers[MEDIA], error_code = HOSTILE[name]

    assert await refusal(fetched(bucket, tmp_path / "in")) == error_code
    assert not list(tmp_path.iterdir())


@pytest.mark.full
async def test_an_object_that_is_cut_short_is_not_taken(bucket, tmp_path):
    def cut(handler):
        told(200, PACKAGE, Content_Length="500")(handler)
        handler.close_connection = True

    bucket.answers[MEDIA] = cut

    assert await refusal(fetched(bucket, tmp_path / "in")) == UNREACHABLE
    assert not list(tmp_path.iterdir())


@pytest.mark.full
@pytest.mark.parametrize("answer", [slow, silent], ids=["slow", "silent"])
async def test_a_call_ends_when_its_time_is_over(bucket, tmp_path, answer):
    bucket.answers = dict.fromkeys((MEDIA, UPLOAD), answer)
    (tmp_path / "out").write_bytes(PACKAGE)

    put = bucket_store.put(service(bucket.url), GCS, tmp_path / "out", 0.3)

    assert await refusal(fetched(bucket, tmp_path / "in", seconds=0.3)) == "object_storage.timeout"
    assert await refusal(put) == "object_storage.timeout"
    assert not (tmp_path / "in").exists()


@pytest.mark.parametrize("answer", [slow, silent], ids=["slow", "silent"])
async def test_who_is_cancelled_has_cut_the_transfer(bucket, tmp_path, answer):
    bucket.answers[MEDIA] = answer
    call = asyncio.ensure_future(fetched(bucket, tmp_path / "in", seconds=3600))
    await until(lambda: any(line.startswith(MEDIA) for line, *_ in bucket.seen))

    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(call, patience.SECONDS)

    assert not list(tmp_path.iterdir())
    assert not bucket_store._transfer_slots.locked()


@pytest.mark.full
async def test_more_than_may_be_under_way_are_busy(bucket, tmp_path):
    bucket.answers[MEDIA] = silent
    calls = [
        asyncio.ensure_future(fetched(bucket, tmp_path / str(n), seconds=3600))
        for n in range(bucket_store.MAX_TRANSFERS)
    ]
    await until(lambda: len(bucket.seen) >= len(calls))

    with pytest.raises(Busy):
        await fetched(bucket, tmp_path / "in")

    for call in calls:
        call.cancel()
    await asyncio.gather(*calls, return_exceptions=True)
    bucket.answers[MEDIA] = told(200, PACKAGE)
    assert await fetched(bucket, tmp_path / "in") == PACKAGE


async def test_a_file_that_is_there_is_left_alone(bucket, tmp_path):
    (tmp_path / "in").write_text("mine")

    with pytest.raises(FileExistsError):
        await fetched(bucket, tmp_path / "in")

    assert (tmp_path / "in").read_text() == "mine"


WRITING = {
    "written": (told(200), None),
    "forbidden": (told(403), "object_storage.forbidden"),
    "there already": (told(412), "object_storage.exists"),
    "no such bucket": (told(404), "object_storage.not_found"),
    "too large for the vendor": (told(400), UNREACHABLE),
}


@pytest.mark.promise("export: gcs_output")
@pytest.mark.parametrize("name", WRITING)
async def test_what_is_not_stored_whole_is_not_reported_as_stored(bucket, tmp_path, name):
    bucket.answers[UPLOAD], error_code = WRITING[name]
    (tmp_path / "out").write_bytes(PACKAGE)

    call = bucket_store.put(service(bucket.url), GCS, tmp_path / "out", 20)

    assert (await call if error_code is None else await refusal(call)) == error_code


async def test_without_the_extra_the_error_says_what_to_install(bucket, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "idp.transfer.bucket.client", None)

    assert await refusal(fetched(bucket, tmp_path / "in")) == "object_storage.not_installed"
    assert bucket.connections == 0
