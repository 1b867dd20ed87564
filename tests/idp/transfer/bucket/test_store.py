"""Object storage: what is read is whole and meant, nothing goes elsewhere, all ends in time."""

from __future__ import annotations

import asyncio
import sys
from types import SimpleNamespace

import pytest
from gcp_storage_emulator.server import create_server
from google.auth.crypt import RSASigner
from google.oauth2.service_account import Credentials
from msgspec import structs

from idp.foundation.errors import Busy
from idp.schema import reading
from idp.transfer.bucket import google_storage
from idp.transfer.bucket import store as bucket_store
from idp.transfer.bucket.errors import ObjectStorageFailed
from idp.transfer.bucket.location import ObjectLocation
from tests.support import patience
from tests.support.patience import until
from tests.support.servers.bucket import (
    ACCOUNT,
    EMAIL,
    MEDIA,
    META,
    PEM,
    UPLOAD,
    crc32c,
    described,
    endless,
    packed,
    serving,
    silent,
    slow,
    told,
)

PLACE = reading.read(
    ObjectLocation,
    {"bucket": "acme-exports", "path": "a/b.json", "serviceaccountJson": packed(ACCOUNT)},
)
PACKAGE = b'{"orgs":[]}'
MOST = 1000


@pytest.fixture
def bucket():
    with serving() as server:
        server.answers = {META: told(200, described(PACKAGE)), MEDIA: told(200, PACKAGE)}
        yield server


@pytest.fixture
def elsewhere():
    with serving() as server:
        yield server


def service(endpoint):
    return SimpleNamespace(config=SimpleNamespace(gcs_endpoint=endpoint))


async def fetched(server, into, seconds=20.0):
    await bucket_store.fetch(service(server.url), PLACE, into, seconds, MOST)
    return into.read_bytes()


async def refusal(call):
    with pytest.raises(ObjectStorageFailed) as refused:
        await call
    told_of_it = f"{refused.value} {refused.value.cause} {refused.value!r}"
    assert not any(secret in told_of_it for secret in (EMAIL, PEM[40:80], "Bearer"))
    return refused.value.error_code


# With Google's library, against an emulator


@pytest.fixture
def emulator():
    server = create_server("127.0.0.1", 0, in_memory=True, default_bucket="acme-exports")
    server.start()
    yield f"http://127.0.0.1:{server._api._httpd.server_address[1]}"
    server.stop()


@pytest.mark.full
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("size", [0, 1, 9_000_001], ids=["nothing", "an octet", "in chunks"])
async def test_what_is_put_is_fetched_again(emulator, tmp_path, size):
    package = tmp_path / "out"
    package.write_bytes(b"\xff" * size)

    await bucket_store.put(service(emulator), PLACE, package, 30)
    await bucket_store.fetch(service(emulator), PLACE, tmp_path / "in", 30, 10_000_000)

    assert (tmp_path / "in").read_bytes() == package.read_bytes()
    assert (tmp_path / "in").stat().st_mode & 0o777 == 0o600


@pytest.mark.full
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("bucket_name", ["acme-exports", "no-such-bucket"])
async def test_what_is_not_there_is_not_fetched(emulator, tmp_path, bucket_name):
    place = structs.replace(PLACE, bucket=bucket_name)

    call = bucket_store.fetch(service(emulator), place, tmp_path / "in", 30, MOST)

    assert await refusal(call) == "object_storage.not_found"
    assert not list(tmp_path.iterdir())


# Hostile servers


async def test_an_object_is_read_in_the_generation_that_was_looked_at(bucket, tmp_path):
    assert await fetched(bucket, tmp_path / "in") == PACKAGE

    (line,) = (line for line, _, _ in bucket.seen if line.startswith(MEDIA))
    assert "generation=7" in line
    assert "ifGenerationMatch=7" in line


async def test_over_plain_http_nothing_of_the_account_is_sent(bucket, tmp_path):
    await fetched(bucket, tmp_path / "in")

    assert not [headers for _, headers, _ in bucket.seen if "authorization" in headers]
    assert EMAIL not in repr(bucket.seen)


HOSTILE = {
    "forbidden": ({META: told(403, {})}, "object_storage.forbidden"),
    "not known": ({META: told(401, {})}, "object_storage.forbidden"),
    "absent": ({META: told(404, {})}, "object_storage.not_found"),
    "nonsense": ({META: told(200, b"<html>")}, "object_storage.unreachable"),
    "a list": ({META: told(200, [])}, "object_storage.unreachable"),
    "no size": ({META: told(200, {"generation": "7"})}, "object_storage.unreachable"),
    "a strange size": (
        {META: told(200, described(PACKAGE, size="1e9"))},
        "object_storage.unreachable",
    ),
    "no checksum": (
        {META: told(200, described(PACKAGE, crc32c=None))},
        "object_storage.unreachable",
    ),
    "an endless description": ({META: endless}, "object_storage.unreachable"),
    "too large": ({META: told(200, described(b"x" * 1001))}, "object_storage.too_large"),
    "more than it said": ({MEDIA: endless}, "object_storage.checksum"),
    "less than it said": ({MEDIA: told(200, PACKAGE[:-1])}, "object_storage.checksum"),
    "other content": ({MEDIA: told(200, PACKAGE[::-1])}, "object_storage.checksum"),
    "changed": ({MEDIA: told(412, {})}, "object_storage.changed"),
    "replaced": ({MEDIA: told(404, {})}, "object_storage.changed"),
    "forbidden now": ({MEDIA: told(403, {})}, "object_storage.forbidden"),
}


@pytest.mark.parametrize("name", HOSTILE)
async def test_what_is_not_as_it_was_stored_is_not_taken(bucket, tmp_path, name):
    answers, error_code = HOSTILE[name]
    bucket.answers |= answers

    assert await refusal(fetched(bucket, tmp_path / "in")) == error_code
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("request_line", [META, MEDIA])
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_no_redirect_is_followed(bucket, elsewhere, tmp_path, status, request_line):
    bucket.answers[request_line] = told(status, {}, Location=f"{elsewhere.url}/x")

    assert await refusal(fetched(bucket, tmp_path / "in")) == "object_storage.unreachable"
    assert elsewhere.connections == 0


async def test_an_address_in_an_answer_is_not_called(bucket, elsewhere, tmp_path):
    link = described(PACKAGE, mediaLink=f"{elsewhere.url}/x", selfLink=f"{elsewhere.url}/y")
    bucket.answers[META] = told(200, link)

    assert await fetched(bucket, tmp_path / "in") == PACKAGE
    assert elsewhere.connections == 0


@pytest.mark.full
@pytest.mark.parametrize("answer", [slow, silent, told(503, {})], ids=["slow", "silent", "503"])
@pytest.mark.parametrize("request_line", [META, MEDIA])
async def test_a_call_ends_when_its_time_is_over(bucket, tmp_path, request_line, answer):
    bucket.answers[request_line] = answer
    error_code = await refusal(fetched(bucket, tmp_path / "in", seconds=0.3))

    assert error_code == "object_storage.timeout"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("answer", [slow, silent], ids=["slow", "silent"])
async def test_who_is_cancelled_has_cut_the_transfer(bucket, tmp_path, answer):
    bucket.answers[MEDIA] = answer
    call = asyncio.ensure_future(fetched(bucket, tmp_path / "in", seconds=3600))
    await until(lambda: any(line.startswith(MEDIA) for line, *_ in bucket.seen))

    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(call, patience.SECONDS)

    assert not list(tmp_path.iterdir())
    assert bucket_store._transfer_slots.acquire(blocking=False)
    bucket_store._transfer_slots.release()


@pytest.mark.full
async def test_more_than_may_be_under_way_are_busy(bucket, tmp_path):
    bucket.answers[META] = silent
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
    bucket.answers[META] = told(200, described(PACKAGE))
    assert await fetched(bucket, tmp_path / "in") == PACKAGE


async def test_a_file_that_is_there_is_left_alone(bucket, tmp_path):
    (tmp_path / "in").write_text("mine")

    with pytest.raises(FileExistsError):
        await fetched(bucket, tmp_path / "in")

    assert (tmp_path / "in").read_text() == "mine"


WRITING = {
    "written": (told(200, described(PACKAGE)), None),
    "forbidden": (told(403, {}), "object_storage.forbidden"),
    "there already": (told(412, {}), "object_storage.exists"),
    "no such bucket": (told(404, {}), "object_storage.not_found"),
    "cut off": (told(200, described(PACKAGE, size="3")), "object_storage.checksum"),
    "spoilt": (told(200, described(PACKAGE, crc32c=crc32c(b"x"))), "object_storage.checksum"),
    "nothing told": (told(200, {}), "object_storage.checksum"),
    "slow": (slow, "object_storage.timeout"),
}


@pytest.mark.promise("export: gcs_output")
@pytest.mark.parametrize("name", WRITING)
async def test_what_is_not_stored_whole_is_not_reported_as_stored(bucket, tmp_path, name):
    bucket.answers[UPLOAD], error_code = WRITING[name]
    (tmp_path / "out").write_bytes(PACKAGE)

    call = bucket_store.put(
        service(bucket.url), PLACE, tmp_path / "out", 1 if name == "slow" else 20
    )

    assert (await call if error_code is None else await refusal(call)) == error_code
    assert "ifGenerationMatch=0" in bucket.seen[0][0]


async def test_a_large_package_is_sent_to_the_same_server_or_not_at_all(
    bucket, elsewhere, tmp_path
):
    (tmp_path / "out").write_bytes(b"x" * 9_000_000)
    bucket.answers[UPLOAD] = told(200, {}, Location=f"{elsewhere.url}/upload/x")

    call = bucket_store.put(service(bucket.url), PLACE, tmp_path / "out", 20)

    assert await refusal(call) == "object_storage.unreachable"
    assert elsewhere.connections == 0


# Credentials


@pytest.fixture
def proving(bucket, monkeypatch):
    """The account proves itself to a server on loopback, as it would to Google."""

    def credentials(endpoint, account):
        signer = RSASigner.from_string(account.private_key, account.key_id)
        return Credentials(
            signer, account.email, google_storage.TOKEN_URI, scopes=[google_storage.SCOPE]
        )

    monkeypatch.setattr(google_storage, "TOKEN_URI", f"{bucket.url}/token")
    monkeypatch.setattr(google_storage, "_credentials", credentials)
    bucket.answers["POST /token"] = told(200, {"access_token": "t0ken", "expires_in": 3600})
    return bucket


@pytest.mark.full
async def test_a_token_is_fetched_and_presented_to_the_storage_alone(proving, tmp_path, capfd):
    assert await fetched(proving, tmp_path / "in") == PACKAGE

    (line, _, body), (_, meta, _), *_ = proving.seen
    assert line.startswith("POST /token")
    assert b"assertion=" in body
    assert meta["authorization"] == "Bearer t0ken"
    assert "t0ken" not in "".join(capfd.readouterr())


@pytest.mark.full
@pytest.mark.parametrize("status", [400, 401, 403])
async def test_an_account_that_google_does_not_know_is_reported(proving, tmp_path, status):
    proving.answers["POST /token"] = told(status, {"error": "invalid_grant"})

    assert await refusal(fetched(proving, tmp_path / "in")) == "object_storage.forbidden"


async def test_a_token_server_that_leads_elsewhere_is_not_followed(proving, elsewhere, tmp_path):
    proving.answers["POST /token"] = told(307, {}, Location=f"{elsewhere.url}/token")

    assert await refusal(fetched(proving, tmp_path / "in")) == "object_storage.unreachable"
    assert elsewhere.connections == 0


async def test_without_the_extra_the_error_says_what_to_install(bucket, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "idp.transfer.bucket.google_storage", None)

    assert await refusal(fetched(bucket, tmp_path / "in")) == "object_storage.not_installed"
    assert bucket.connections == 0
