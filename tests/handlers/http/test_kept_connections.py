"""A refusal before the handler's method does not end the connection, unless a body is missing."""

from __future__ import annotations

import pytest

from tests.support.browsers.wire import head, opened

REFUSED = {"/v2/users/x": 401, "/nothing": 404, "/v2/nothing": 404}
LAST = "Connection: close"


@pytest.mark.parametrize(("path", "status"), REFUSED.items())
async def test_the_next_request_is_answered_on_the_same_connection(server, path, status):
    requests = head(server, "GET", path) + head(server, "GET", path, LAST)

    async with opened(server, requests) as (reader, _):
        answers = await reader.read()

    assert answers.count(f"HTTP/1.1 {status} ".encode()) == 2


@pytest.mark.parametrize("path", REFUSED)
async def test_the_connection_ends_where_the_body_is_still_to_come(server, path):
    requests = head(server, "POST", path, "Content-Length: 2")

    async with opened(server, requests) as (reader, writer):
        answer = await reader.readuntil(b"\r\n\r\n")
        writer.write(b"{}" + head(server, "GET", path, LAST))
        rest = await reader.read()

    assert b"\r\nConnection: close\r\n" in answer
    assert b"HTTP/1.1" not in rest
