"""A request that can't be read is answered in the form of its endpoint, and does nothing."""

from __future__ import annotations

import json
from urllib.parse import urlsplit

import pytest

from tests.support.browsers.wire import FORM, exchange
from tests.support.measured.logged import log_fixture  # noqa: F401 - a fixture

MALFORMED = {
    "two hosts": "Host: other.example",
    "a folded line": "X: y\r\n z",
    "a space before the colon": "X : y",
    "a length and chunks": "Content-Length: 1\r\nTransfer-Encoding: chunked",
    "an unknown coding": "Transfer-Encoding: gzip, chunked",
}


def raw(server, line, field):
    host = urlsplit(server.issuer).netloc
    return f"{line} HTTP/1.1\r\nHost: {host}\r\nContent-Type: {FORM}\r\n{field}\r\n\r\n".encode()


@pytest.mark.parametrize("name", MALFORMED)
async def test_clients_get_json(server, name):
    answer = await exchange(server, raw(server, "POST /oauth/v2/token", MALFORMED[name]))

    assert answer.status_code == 400
    assert answer.json()["error"] == "invalid_request"
    assert answer.headers["X-Request-Id"]
    assert answer.headers["Connection"] == "close"
    await server.app.drained(10)
    assert not server.app._in_progress


@pytest.mark.parametrize("target", ["/ui/setup", "/nothing", "/v2/users/human", "/healthz"])
async def test_every_address_refuses_it(server, target):
    answer = await exchange(server, raw(server, f"GET {target}", "X : y"))

    assert answer.status_code == 400
    assert answer.content


async def test_it_is_in_the_access_log(server, log):
    await exchange(server, raw(server, "POST /oauth/v2/token", "X : y"))

    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    access = [line for line in lines if line["logger"] == "idp.access"]
    assert [(line["path"], line["status"]) for line in access] == [("/oauth/v2/token", 400)]
    assert "malformed request" in [line["event"] for line in lines]
