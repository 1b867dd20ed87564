"""Connections that are kept: a client must know when the next request needs another."""

from __future__ import annotations

import asyncio

import pytest

from tests.program.samples import close

ENDED = {"too long a body": ("POST", "/oauth/v2/token", {"Content-Length": "999999"}, 413)}
KEPT = {
    "another host": ("GET", "/oauth/v2/keys", {"Host": "elsewhere.example"}, 421),
    "another spelling": ("GET", "/oauth/v2/keys", {"Host": "127.0.0.1:{port}"}, 308),
    "too long a head": ("GET", "/oauth/v2/keys", {"X-Long": "x" * 20_000}, 431),
    "no such page": ("GET", "/nothing", {}, 404),
    "a page": ("GET", "/.well-known/openid-configuration", {}, 200),
    "a token in the address": ("GET", "/oidc/v1/userinfo?access_token=x", {}, 400),
    "no such method": ("BREW", "/oauth/v2/token", {}, 405),
    "a refusal": ("GET", "/oidc/v1/userinfo", {}, 401),
}


async def ask(port: int, method: str, path: str, headers: dict) -> tuple[int, bool, bool]:
    """The status, whether the answer said that the connection ends, and whether it did."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = {"Host": f"localhost:{port}"} | headers
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in head.items())]
    writer.write("\r\n".join([*lines, "", ""]).format(port=port).encode())
    answer = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    length = next(line for line in answer.split("\r\n") if line.startswith("content-length:"))
    await reader.readexactly(int(length.partition(":")[2]))
    writer.write(f"GET /healthz HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n".encode())
    try:
        is_closed = not await reader.read(1)
    except ConnectionError:
        is_closed = True
    await close(writer)
    return int(answer.split(" ")[1]), "connection: close\r\n" in answer, is_closed


@pytest.mark.parametrize("name", [*ENDED, *KEPT])
async def test_an_answer_says_whether_the_connection_ends(server, name):
    method, path, headers, status = (ENDED | KEPT)[name]

    answered, is_said, is_closed = await ask(server.service.config.port, method, path, headers)

    assert (answered, is_said) == (status, is_closed)
    assert is_closed == (name in ENDED)
