"""How long a package may be: of five gigabytes too many, none is awaited and none is fetched."""

from __future__ import annotations

from urllib.parse import urlsplit

import msgspec
import pytest

from handlers import api
from tests.support.browsers.wire import exchange
from tests.support.management.callers import refused
from tests.support.servers.bucket import ACCOUNT, MEDIA, packed, serving, told
from tests.support.store.stored import count
from tests.support.transfer.bulk import IMPORT, orgs, package

MOST = 64 * 1024
FIVE_GIGABYTES = 5 * 1024**3
PLACE = {"bucket": "acme", "path": "a/b.json", "serviceaccountJson": packed(ACCOUNT)}


@pytest.fixture
def bucket():
    with serving() as server:
        server.answers = {MEDIA: told(200, b"{}", Content_Length=str(FIVE_GIGABYTES))}
        yield server


@pytest.fixture
def settings(bucket):
    return {"max_import_bytes": MOST, "gcs_endpoint": bucket.url}


def padded(length):
    return msgspec.json.encode(package(*orgs(1))).ljust(length)


def headed(server, owner, length):
    head = [
        f"POST {IMPORT} HTTP/1.1",
        f"Host: {urlsplit(server.issuer).netloc}",
        f"Authorization: Bearer {owner.token}",
        "Content-Type: application/json",
        length,
    ]
    return "\r\n".join([*head, "", ""]).encode()


@pytest.mark.promise("import: data_orgsv1")
async def test_a_package_may_be_that_long_and_no_byte_longer(server, owner):
    longer = await owner.post(IMPORT, padded(MOST + 1))
    assert refused(longer, 413, 8) == {"": "request_entity_too_large"}
    assert "jobs" not in await count(server.store)

    assert (await owner.post(IMPORT, padded(MOST))).json()["created"] == 1


async def test_one_that_comes_in_pieces_is_measured_too(server, owner, visitor):
    async def pieces():
        for _ in range(17):
            yield b" " * 4096

    headers = {"Authorization": f"Bearer {owner.token}", "Content-Type": "application/json"}
    page = await visitor.request("POST", IMPORT, content=pieces(), headers=headers)

    assert refused(page, 413, 8) == {"": "request_entity_too_large"}
    assert "jobs" not in await count(server.store)


async def test_pieces_without_end_are_cut_off_with_the_answer(server, owner, monkeypatch):
    monkeypatch.setattr(api, "_MAX_IGNORED_BYTES", 4096)
    piece = b"1000\r\n" + b" " * 4096 + b"\r\n"
    head = headed(server, owner, "Transfer-Encoding: chunked")

    answer = await exchange(server, head + piece * (MOST // 4096 + 2))

    assert answer.status_code == 413
    assert "request_entity_too_large" in answer.text
    assert "jobs" not in await count(server.store)


@pytest.mark.promise("import: data_orgsv1")
async def test_five_gigabytes_are_refused_before_they_are_sent(server, owner):
    """The answer comes, and the connection ends, though no octet of the body was sent."""
    head = headed(server, owner, f"Content-Length: {FIVE_GIGABYTES}")

    answer = await exchange(server, head)

    assert answer.status_code == 413
    assert "jobs" not in await count(server.store)


async def test_five_gigabytes_in_a_bucket_are_refused_before_they_are_fetched(
    server, owner, bucket
):
    page = await owner.post(IMPORT, {"dataOrgsGcs": PLACE})

    assert refused(page, 400, 3) == {"dataOrgsGcs": "object_storage.too_large"}
    assert len(bucket.seen) == 1  # what its head says is enough
    assert "jobs" not in await count(server.store)
