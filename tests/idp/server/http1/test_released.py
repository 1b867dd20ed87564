"""What has ended is released at once: no memory waits for the garbage collector."""

from __future__ import annotations

import pytest

from idp.server import http_server
from idp.server.http1 import client_stream
from tests.idp.server.http1.serving import request, served
from tests.idp.server.http1.test_tls import pair_fixture  # noqa: F401 - a fixture
from tests.support.measured.alive import made
from tests.support.patience import until

KEPT = {
    "an answer": request("GET", "/"),
    "an answer without a body": request("GET", "/bare/204"),
    "an answer in pieces": request("GET", "/streaming?pieces=3"),
    "an answer to a form": request("POST", "/", body=b"a=1"),
    "an answer to chunks": request("POST", "/", "Transfer-Encoding: chunked") + b"0\r\n\r\n",
}
ENDED = {
    "an answer before the body": request("POST", "/early", "Content-Length: 9"),
    "no answer": request("GET", "/late"),
    "a malformed request": request("GET", "/", "X : y"),
}


@pytest.mark.parametrize("name", KEPT)
async def test_an_answered_request(monkeypatch, name):
    with made(monkeypatch, client_stream, "ParsedRequest") as requests:
        async with served() as service, service.client() as client:
            for _ in range(5):
                client.send(KEPT[name])
                await client.answer(is_bare=name == "an answer without a body")
                assert len(requests) <= 1
            await until(lambda: not requests)


@pytest.mark.parametrize("name", ENDED)
async def test_a_request_with_which_the_connection_ends(monkeypatch, name):
    with made(monkeypatch, client_stream, "ParsedRequest") as requests:
        async with served() as service:
            async with service.client() as client:
                client.send(ENDED[name])
                if name == "no answer":
                    await service.seen.begun.wait()
                else:
                    await client.answer()
            service.seen.goes_on.set()
            await until(lambda: not requests)


@pytest.mark.parametrize("is_encrypted", [False, True])
async def test_a_connection(monkeypatch, pair, is_encrypted):
    tls, trusted = pair if is_encrypted else (None, None)
    with made(monkeypatch, http_server, "ClientStream") as streams:
        async with served(tls) as service:
            async with service.client(ssl=trusted) as client:
                client.send(request("GET", "/"))
                await client.answer()
                assert len(streams) == 1
            await until(lambda: not streams)
