"""Helpers for tests of notes: both stores, and the flow that an address names."""

from __future__ import annotations

from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from idp.oauth.endpoints import sealed_requests
from idp.oauth.sign_in import pending as sign_in_pending
from idp.records import AuthRequest
from tests.support.servers.mongod import fresh_database

FOREIGN = {"Sec-Fetch-Site": "cross-site"}


@pytest.fixture(params=["sqlite", "mongodb"])
def settings(request, tmp_path):
    if request.param == "sqlite":
        yield {"store": f"sqlite:///{tmp_path}/db.sqlite3"}
        return
    with fresh_database(request.getfixturevalue("mongod")) as url:
        yield {"store": url}


def flow_of(page) -> str:
    """What the address of a page, or of its redirect, names its flow by."""
    (flow,) = parse_qs(urlsplit(page.location or page.url).query)["flow"]
    return flow


def at(flow: str, path: str = "/ui/login", **more) -> str:
    return f"{path}?{urlencode({'flow': flow} | more)}"


async def read_note(server, page) -> AuthRequest:
    """The request that a page's note holds."""
    return sealed_requests.read(
        server.service, flow_of(page), AuthRequest, sign_in_pending.PURPOSE
    )


def assert_expired(page):
    assert (page.status, page.name) == (410, "expired")
